/** Result of an operation, before it is an answer: its records, made of rows or of records. */

import type { Request } from 'express';
import type { ModelInfo } from '../describe/model-info.js';
import { recordColumn } from '../execute/customization/hydrate-record.js';
import type { Page } from '../execute/page.js';
import { loadedNow, type RelatedNow } from '../execute/records/load-relations.js';
import type { Group } from '../execute/records/read-related.js';
import type { RelatedRowsFound } from '../execute/rows/related-rows.js';
import type { ShownModel } from '../express/resources/resource.js';
import type { StatementTarget, TextRow } from '../postgres/index.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Inclusion } from '../request/query/list-query.js';
import type { WireRecord } from '../respond/record-serializer.js';
import { type PropertyFormat, withMembers } from '../respond/row-view.js';

/** Names of properties; none are all. */
export type Fields = readonly string[] | null | undefined;

/**
 * Writes one of the records as JSON text.
 *
 * @param more JSON of members that it has behind its own
 */
type WriteRecord = (index: number, more?: string) => string;

/** Records with all that they are answered with. */
export interface WholeRecords {
  /** Number of the records. */
  readonly size: number;
  /** Their writer, which makes one text at a time: all texts of large records may be too many for the memory. */
  writer(fields: Fields): WriteRecord;
  /** The records as plain values, for code that reads them. */
  values(fields: Fields): readonly WireRecord[];
}

/** Records of an answer, of both executors. */
export interface ShownRecords extends WholeRecords {
  /** Rows that they are made of; none where something else has read them. */
  readonly rows: readonly TextRow[];
  /** The value of an attribute in each, in the text form of its column. */
  column(attribute: string): readonly (string | null)[];
  /** Formats of the columns of `rows`; null where there are none, and where records are made of them. Left out where something else has read them. */
  formats?(fields: Fields): readonly PropertyFormat[] | null;
  /**
   * Rows that a repository has loaded for an inclusion of this request, for each record; null where it has to be read.
   * Left out where nothing can be loaded.
   *
   * @param keys of the relation, in the text form of the column
   */
  loaded?(inclusion: Inclusion, keys: readonly (string | null)[]): readonly (RelatedNow | null)[];
  /** Rows that this request has written for an inclusion; null where they have to be read. Left out where none was written. */
  written?(inclusion: Inclusion): Promise<WrittenRelated | null>;
}

/** Rows of a relation, and the group of each record. */
export interface WrittenRelated {
  readonly shown: ShownRecords;
  readonly groups: readonly Group[];
}

/** Result of an operation: the record, or those of a page. A delete has none. */
export interface Outcome extends ShownRecords {
  /** Where a page is, and how many rows there are; null where the answer is no page. */
  readonly page: Page<unknown> | null;
  /** True where a method returned it, whose page may hold records beside its items. Left out where none did. */
  readonly isOfMethod?: boolean;
  /** Rows that were found or written. */
  readonly count: number;
  /** True where a replacement has created the record. Left out where a method has set the status of the response. */
  readonly isNew?: boolean;
  key(): unknown;
  /** The value of an attribute of the record, in the text form of its column; null where the answer has none. */
  stored(attribute: string): string | null | undefined;
}

/** Records of Sequelize or of the user's code, as records of an answer. */
export function recordsShown(
  { plan: { info }, serialize, rowView }: ShownModel,
  records: readonly object[],
  columns?: ReadonlyMap<string, readonly (string | null)[]>,
): ShownRecords {
  return {
    size: records.length,
    rows: [],
    column: (attribute) => columns?.get(attribute) ?? recordColumn(info, records, attribute),
    writer: (fields) => (index, more) => {
      const record = records[index] as object;
      return withMembers(
        rowView.ofRecord(record, fields) ?? JSON.stringify(serialize(record, fields)),
        more ?? '',
      );
    },
    values: (fields) =>
      records.map((record) => {
        const text = rowView.ofRecord(record, fields);
        return text === null ? serialize(record, fields) : (JSON.parse(text) as WireRecord);
      }),
    loaded: (inclusion, keys) =>
      records.map((record, index) =>
        loadedNow(record, inclusion.plan.relation.name, inclusion, keys[index] ?? null),
      ),
  };
}

/** Rows of our SQL, as records of an answer. */
export function rowsShown(
  { rowView }: Pick<ShownModel, 'rowView'>,
  { name }: Pick<ModelInfo, 'name'>,
  columns: readonly string[],
  { rows, parsers }: Pick<RelatedRowsFound, 'rows' | 'parsers'>,
): ShownRecords {
  return {
    size: rows.length,
    rows,
    column(attribute) {
      const position = columns.indexOf(attribute);
      if (position < 0) throw new TypeError(`${name}.${attribute} was not read.`);
      return rows.map((row) => row[position] ?? null);
    },
    // Without rows there are no parsers.
    formats: (fields) => (rows.length > 0 ? rowView.formats(parsers, fields ?? null) : null),
    writer(fields) {
      if (rows.length === 0) return () => '';
      const { text } = rowView.writer(parsers, fields);
      return (index, more) => text(rows[index] as TextRow, more);
    },
    values: (fields: Fields) => (rows.length === 0 ? [] : rowView.writer(parsers, fields).values(rows)),
  };
}

/** Records that a feature reads for those of an outcome, and adds to them. */
export interface Completion {
  readonly input: string;
  /** Locks the rows that it will write, before the first of many records is written by code for one. Left out where it writes none. */
  lockAll?(inputs: readonly RequestArguments[]): Promise<void>;
  /** True where SQL of this library reads all of them, so that no session is needed. */
  isOpen(input: RequestArguments): boolean;
  complete(outcome: Outcome, input: RequestArguments, place: CompletionPlace): Promise<Outcome>;
  /** The same for the records of a request for many, in the order of their arguments. Left out where it is for single records alone. */
  completeAll?(
    shown: ShownRecords,
    inputs: readonly RequestArguments[],
    place: CompletionPlace,
  ): Promise<WholeRecords>;
}

/** Place of the statements of a completion. */
export interface CompletionPlace {
  readonly request: Request;
  /** Default: any connection of the pool. */
  readonly on: StatementTarget | undefined;
  /** Statements that run at the same time: 1 on the connection of a session. */
  readonly atOnce: number;
}

/** The completion of a request; null where it has none. */
export function completionOf(
  completions: readonly Completion[],
  { query }: RequestArguments,
): Completion | null {
  let all: Completion | null = null;
  for (const each of completions) if (query[each.input] !== undefined) all = all ? both(all, each) : each;
  return all;
}

function both(first: Completion, second: Completion): Completion {
  return {
    input: first.input,
    isOpen: (input) => first.isOpen(input) && second.isOpen(input),
    complete: async (outcome, input, place) =>
      second.complete(await first.complete(outcome, input, place), input, place),
  };
}
