/** Records -> the same with the relations that a request has included, whatever read the records. */

import type { Request } from 'express';
import type { ModelInfo } from '../../model/model-info.js';
import { relatedRows, relatedSlots } from '../../operation/related-rows.js';
import type { StatementTarget } from '../../persistence/connections/statement-target.js';
import type { TextRow } from '../../persistence/protocol/batch.js';
import { NOTHING, RelatedRows, type RelatedRowsFound } from '../../persistence/rows/related-rows.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import type { IncludePlan } from '../../plan/resource-plan.js';
import type { Inclusion } from '../../query/list-query.js';
import type { WireRecord } from '../../response/record-serializer.js';
import { relatedAccess } from '../request/related-access.js';
import type { ShownModel } from '../resources/resource.js';
import type { Fields, ShownRecords } from './outcome.js';
import { NO_ROWS, type RelatedTotal, relatedLimit, relatedTotals } from './related-totals.js';

/** Where relations are read, and how their records are shown. */
export interface Embedding {
  readonly request: Request;
  /** Default: any connection of the pool. */
  readonly on: StatementTarget | undefined;
  /** Statements of one level that run at the same time: 1 on the connection of a session. */
  readonly atOnce: number;
  views(model: object): ShownModel;
}

/** One relation of the records: a JSON text for each of them, and the value that it means. */
interface Member {
  readonly name: string;
  readonly texts: () => readonly string[];
  readonly values: () => readonly unknown[];
}

/** Adds relations to records. The number of statements depends on the relations alone. */
export async function embed(
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

const readers = new WeakMap<IncludePlan, RelatedRows>();

async function readMember(
  records: ShownRecords,
  inclusion: Inclusion,
  embedding: Embedding,
): Promise<Member> {
  const { plan, fields, size, sort, filter, include } = inclusion;
  const { relation, target } = plan;
  const view = embedding.views(relation.target);
  const keys = records.column(relation.parentKey);
  const places = new Map<string, number>();
  for (const key of keys) if (key !== null && !places.has(key)) places.set(key, places.size);
  const access = await relatedAccess(embedding.request, plan);
  const reader = readers.get(plan) ?? new RelatedRows(relation, target.info);
  readers.set(plan, reader);
  const columns = view.columnsOf(fields);
  const needed = include.map((each) => each.plan.relation.parentKey);
  const select = {
    columns: [...new Set([...(columns.length > 0 ? columns : [target.info.primaryKey.name]), ...needed])],
  };
  const where = relatedRows(plan, access, filter);
  const slots = relatedSlots(access);
  const parents = [...places.keys()];
  const limit = relatedLimit(inclusion);
  const isNumberOnly = size === 0 && Boolean(limit);
  // One more tells whether there are others.
  const wanted = { where, select, order: sort, limit: relation.isOne ? 1 : size + 1 };
  const found = isNumberOnly ? NOTHING : await reader.run(wanted, parents, slots, embedding.on);
  const { kept, groups } = group(found, places.size, size);
  const totals =
    limit === undefined
      ? null
      : await relatedTotals(parents, isNumberOnly ? null : groups, limit, (keys) =>
          reader.count(where, limit + 1, keys, slots, embedding.on),
        );
  const shown = await embed(
    rowsShown(view, target.info, select.columns, { ...found, rows: kept }),
    include,
    embedding,
  );
  const perParent = <T>(none: T, make: (each: Group, index: number) => T): readonly T[] => {
    const made = groups.map(make);
    return keys.map((key) => (key === null ? none : (made[places.get(key) as number] as T)));
  };
  const none: Rest = { has_next: false, ...(totals && NO_ROWS) };
  const restOf = (index: number): Rest => {
    const { hasNext } = groups[index] as Group;
    const total = totals?.[index];
    return total ? { has_next: isNumberOnly ? total.total !== 0 : hasNext, ...total } : { has_next: hasNext };
  };
  const { isOne, name } = relation;
  return {
    name,
    texts() {
      const texts = shown.texts(fields);
      if (isOne)
        return perParent('null', ({ rows: [first] }) =>
          first === undefined ? 'null' : (texts[first] as string),
        );
      const rest = (value: Rest) => JSON.stringify(value).slice(1);
      return perParent(
        `{"items":[],${rest(none)}`,
        ({ rows }, index) => `{"items":[${rows.map((row) => texts[row]).join()}],${rest(restOf(index))}`,
      );
    },
    values() {
      const values = shown.values(fields);
      if (isOne) return perParent(null, ({ rows: [first] }) => (first === undefined ? null : values[first]));
      return perParent({ items: [], ...none }, ({ rows }, index) => ({
        items: rows.map((row) => values[row]),
        ...restOf(index),
      }));
    },
  };
}

/** What is answered beside the items. */
interface Rest extends Partial<RelatedTotal> {
  readonly has_next: boolean;
}

/** The rows of one parent, by their place. */
interface Group {
  readonly rows: number[];
  hasNext: boolean;
}

/** Takes the rows apart, without those that only tell that there are more. */
function group({ rows, parents }: RelatedRowsFound, count: number, size: number) {
  const groups = Array.from({ length: count }, (): Group => ({ rows: [], hasNext: false }));
  const kept: TextRow[] = [];
  for (const [index, parent] of parents.entries()) {
    const known = groups[parent] as Group;
    if (known.rows.length < size) known.rows.push(kept.push(rows[index] as TextRow) - 1);
    else known.hasNext = true;
  }
  return { kept, groups };
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

/** Records that code of the user's gave, as far as relations are found by them. @throws TypeError for one without the key */
export function recordColumn(
  info: ModelInfo,
  records: readonly object[],
  attribute: string,
): readonly (string | null)[] {
  const type = info.attributes.get(attribute)?.type;
  return records.map((record) => {
    const { getDataValue } = record as { getDataValue?: (name: string) => unknown };
    // A getter may show another value than that of the column.
    const value = getDataValue
      ? getDataValue.call(record, attribute)
      : (record as Record<string, unknown>)[attribute];
    const text = type && encodeParameter(type, value);
    if (text === undefined) {
      throw new TypeError(
        `A ${info.name} of an answer has no '${attribute}', by which its relations are found.`,
      );
    }
    return text;
  });
}
