/** Records -> the same with the relations that a request has included, whatever read the records. */

import type { Request } from 'express';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { ModelInfo } from '../../model/model-info.js';
import type { StatementTarget } from '../../persistence/connections/statement-target.js';
import { loadedNow } from '../../persistence/records/loaded-relations.js';
import { isReadByRows, readRelated } from '../../persistence/records/read-related.js';
import { recordColumn } from '../../persistence/records/record-column.js';
import type { RelatedRowsFound } from '../../persistence/rows/related-rows.js';
import type { Inclusion } from '../../query/list-query.js';
import type { WireRecord } from '../../response/record-serializer.js';
import { relatedAccess } from '../request/related-access.js';
import type { ShownModel } from '../resources/resource.js';
import type { Fields, Outcome, ShownRecords } from './outcome.js';

/** Where relations are read, and how their records are shown. */
export interface Embedding {
  readonly request: Request;
  /** Default: any connection of the pool. */
  readonly on: StatementTarget | undefined;
  /** Statements of one level that run at the same time: 1 on the connection of a session. */
  readonly atOnce: number;
  views(model: ModelClass): ShownModel;
}

/** One relation of the records: a JSON text for each of them, and the value that it means. */
interface Member {
  readonly name: string;
  readonly texts: () => readonly string[];
  readonly values: () => readonly unknown[];
}

/** The relations that a request includes are read with the records, whatever read those. */
export async function withRelations(
  found: Outcome,
  include: readonly Inclusion[],
  embedding: Embedding,
): Promise<Outcome> {
  return { ...found, ...(await embed(found, include, embedding)) };
}

/** Adds relations to records. The number of statements depends on the relations alone. */
async function embed(
  records: ShownRecords,
  include: readonly Inclusion[],
  embedding: Embedding,
): Promise<ShownRecords> {
  if (include.length === 0) return records;
  const members: Member[] = [];
  for (let from = 0; from < include.length; from += embedding.atOnce) {
    const some = include.slice(from, from + embedding.atOnce);
    members.push(...(await Promise.all(some.map((each) => readMember(records, each, embedding)))));
  }
  return {
    column: (attribute) => records.column(attribute),
    texts(fields) {
      const texts = members.map(({ name, texts: of }) => ({ key: `${JSON.stringify(name)}:`, texts: of() }));
      return records.texts(fields).map((text, index) => {
        const added = texts.map(({ key, texts: each }) => key + each[index]).join();
        return text === '{}' ? `{${added}}` : `${text.slice(0, -1)},${added}}`;
      });
    },
    values(fields) {
      const values = members.map(({ name, values: of }) => [name, of()] as const);
      return records.values(fields).map((record, index) => {
        const added = values.map(([name, each]) => [name, each[index]]);
        return Object.assign({}, record, Object.fromEntries(added)) as WireRecord;
      });
    },
  };
}

async function readMember(
  records: ShownRecords,
  inclusion: Inclusion,
  embedding: Embedding,
): Promise<Member> {
  const { plan, fields, include } = inclusion;
  const { relation } = plan;
  const keys = records.column(relation.parentKey);
  const loaded = records.loaded?.(inclusion, keys) ?? [];
  const read = await readItems(
    inclusion,
    keys.filter((_, index) => !loaded[index]),
    embedding,
  );
  const known = loaded.flatMap((each) => each?.items ?? []);
  const shown =
    known.length === 0
      ? read.shown
      : joinShown(
          await embed(recordsShown(embedding.views(relation.target), known), include, embedding),
          read.shown,
        );
  let from = 0;
  const groups = keys.map((key, index): Group => {
    const now = loaded[index];
    if (!now) {
      const { rows, hasNext } = (key !== null && read.groups.get(key)) || NOTHING;
      return { rows: rows.map((row) => row + known.length), hasNext };
    }
    from += now.items.length;
    return { rows: now.items.map((_, at) => from - now.items.length + at), hasNext: now.hasNext };
  });
  const { isOne, name } = relation;
  return {
    name,
    texts() {
      const texts = shown.texts(fields);
      if (isOne)
        return groups.map(({ rows: [first] }) => (first === undefined ? 'null' : (texts[first] as string)));
      return groups.map(
        ({ rows, hasNext }) => `{"items":[${rows.map((row) => texts[row]).join()}],"has_next":${hasNext}}`,
      );
    },
    values() {
      const values = shown.values(fields);
      if (isOne) return groups.map(({ rows: [first] }) => (first === undefined ? null : values[first]));
      return groups.map(({ rows, hasNext }) => ({
        items: rows.map((row) => values[row]),
        has_next: hasNext,
      }));
    },
  };
}

/** The items of parents with these keys. */
async function readItems(
  { plan, fields, size, sort, filter, include }: Inclusion,
  keys: readonly (string | null)[],
  embedding: Embedding,
) {
  const { relation, target } = plan;
  const view = embedding.views(relation.target);
  const distinct = [...new Set(keys.filter((key) => key !== null))];
  const columns = view.columnsOf(fields);
  const needed = include.map((each) => each.plan.relation.parentKey);
  const select = [...new Set([...(columns.length > 0 ? columns : [target.info.primaryKey.name]), ...needed])];
  const found = await readRelated(
    {
      plan,
      access: await relatedAccess(embedding.request, plan),
      filter,
      order: sort,
      // One more tells whether there are others.
      limit: relation.isOne ? 1 : size + 1,
      columns: select,
      needsRecords: view.rowView.isOfRecords,
      keys: needed,
    },
    distinct,
    embedding,
  );
  const { groups, kept } = groupByParent(found.parents, distinct, size);
  const some = <T>(all: readonly T[]): readonly T[] => kept.map((index) => all[index] as T);
  const shown = found.records
    ? recordsShown(
        view,
        some(found.records),
        new Map([...found.columns].map(([name, texts]) => [name, some(texts)])),
      )
    : rowsShown(view, target.info, select, { ...found, rows: some(found.rows) });
  return { groups, shown: await embed(shown, include, embedding) };
}

/** Whether our SQL reads all that is included. */
export function isEmbeddedByRows(include: readonly Inclusion[], views: Embedding['views']): boolean {
  return include.every(
    (each) =>
      isReadByRows(each.plan, views(each.plan.relation.target).rowView.isOfRecords) &&
      isEmbeddedByRows(each.include, views),
  );
}

/** The items of one parent, by their place. */
interface Group {
  readonly rows: readonly number[];
  readonly hasNext: boolean;
}

const NOTHING: Group = Object.freeze({ rows: [], hasNext: false });

/** Takes items apart by parent, without those that only tell that there are more. */
function groupByParent(parents: readonly number[], keys: readonly string[], size: number) {
  const groups = new Map<string, { readonly rows: number[]; hasNext: boolean }>();
  const kept: number[] = [];
  for (const [index, parent] of parents.entries()) {
    const key = keys[parent] as string;
    const group = groups.get(key) ?? { rows: [], hasNext: false };
    groups.set(key, group);
    if (group.rows.length < size) group.rows.push(kept.push(index) - 1);
    else group.hasNext = true;
  }
  return { groups: groups as ReadonlyMap<string, Group>, kept };
}

function joinShown(first: ShownRecords, second: ShownRecords): ShownRecords {
  return {
    column: (attribute) => [...first.column(attribute), ...second.column(attribute)],
    texts: (fields) => [...first.texts(fields), ...second.texts(fields)],
    values: (fields) => [...first.values(fields), ...second.values(fields)],
  };
}

/** Records, whatever has made them, as records of an answer. */
export function recordsShown(
  { plan: { info }, serialize, rowView }: ShownModel,
  records: readonly object[],
  columns?: ReadonlyMap<string, readonly (string | null)[]>,
): ShownRecords {
  return {
    column: (attribute) => columns?.get(attribute) ?? recordColumn(info, records, attribute),
    texts: (fields) =>
      records.map((record) => rowView.ofRecord(record, fields) ?? JSON.stringify(serialize(record, fields))),
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
    column(attribute) {
      const position = columns.indexOf(attribute);
      if (position < 0) throw new TypeError(`${name}.${attribute} was not read.`);
      return rows.map((row) => row[position] ?? null);
    },
    // Where there are no rows, nobody has said how to read one.
    texts: (fields: Fields) => (rows.length === 0 ? [] : rows.map(rowView.writer(parsers, fields).text)),
    values: (fields: Fields) => (rows.length === 0 ? [] : rowView.writer(parsers, fields).values(rows)),
  };
}
