/** Children of new records, as their answer has them: the rows that were written, where a read would find the same. */
import { relatedAccess } from '../../access/related-access.js';
import { describeModel } from '../../describe/describe-model.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { ofTables, tableFacts } from '../../describe/table-facts.js';
import { type Group, isReadByRows, NO_ITEMS } from '../../execute/records/read-related.js';
import { triggersOf } from '../../execute/rows/sql-executor.js';
import { describeTable, type TableSql } from '../../execute/sql/select-sql.js';
import { type Slots, textOf } from '../../execute/sql/statement.js';
import { columnOf } from '../../execute/sql/table-indexes.js';
import type { ShownModel } from '../../express/resources/resource.js';
import type { CompletionPlace, ShownRecords, WrittenRelated } from '../../handle/outcome.js';
import { type FoundRelation, PARENT, relatedRows, relatedSlots } from '../../operation/related-rows.js';
import type { StatementTarget } from '../../postgres/index.js';
import type { Inclusion } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { keptIn } from '../../util/memo.js';
import type { NestedLevel } from './nested-options.js';
import type { LevelTask, LevelWork } from './nested-parents.js';

/** Children that one statement has written, in the order of their parents. */
export interface WrittenChildren {
  readonly items: readonly { readonly task: LevelTask }[];
  readonly shown: ShownRecords;
  /** Attributes of their rows. */
  readonly columns: readonly string[];
}

/** Children of new parents, and theirs. */
export interface WrittenLevel {
  readonly children: WrittenChildren;
  readonly nested: WrittenLevels;
}

/** Children of new parents, by relation. Those that are left out have to be read. */
export type WrittenLevels = ReadonlyMap<FoundRelation, WrittenLevel>;

/** All children have to be read. */
export const NONE_WRITTEN: WrittenLevels = new Map();

/** Place of an answer, and the views of its records. */
interface ShownPlace extends CompletionPlace {
  viewOf(plan: FoundRelation): ShownModel;
}

/** Decisions by relation. */
const asWritten = ofTables(() => new Map<NestedLevel, boolean>());

/**
 * True where new parents have no children but those that the request writes, and these can be ordered: a foreign key of the table allows
 * no child without its parent, and the default order is one of integers.
 */
export function isShownAsWritten(level: NestedLevel): boolean {
  return keptIn(asWritten(), level, () => {
    const { relation, target } = level.plan;
    const child = tableFacts(relation.target);
    const parent = tableFacts(relation.parent);
    if (!child || !parent || child.isInherited || relation.more.length > 0) return false;
    const { attributes } = target.info;
    const isOver = ([column, ...more]: readonly string[], name: string) =>
      more.length === 0 && column === name;
    const targetColumn = columnOf(target.info, relation.targetKey);
    const parentColumn = columnOf(describeModel(relation.parent), relation.parentKey);
    const isSure = child.foreignKeys.some(
      (key) =>
        key.isSure &&
        key.target === parent.id &&
        isOver(key.columns, targetColumn) &&
        isOver(key.targetColumns, parentColumn),
    );
    return (
      isSure &&
      target.defaultSort.every(({ attribute, value }) => !value && isInteger(attributes.get(attribute)))
    );
  });
}

function isInteger(attribute: AttributeInfo | undefined): boolean {
  return attribute?.type.kind === 'integer' || attribute?.type.kind === 'bigint';
}

/** The tables of parents and of all their children. */
export function tablesOf(parent: ModelInfo, works: ReadonlyMap<string, LevelWork>): readonly TableSql[] {
  const children = [...works.values()].flatMap(({ resource, nested }) =>
    tablesOf(resource.plan.info, nested),
  );
  return [describeTable(parent), ...children];
}

/** True where a trigger of any of them may change rows behind a write. */
export async function haveTriggers(tables: readonly TableSql[], on: StatementTarget): Promise<boolean> {
  for (const table of tables) {
    const { haveTriggers: isTriggered, isPlain } = await triggersOf(table, on);
    if (isTriggered || !isPlain) return true;
  }
  return false;
}

/** The same records, with the children that were written. */
export function withWritten(shown: ShownRecords, levels: WrittenLevels, place: ShownPlace): ShownRecords {
  if (levels.size === 0) return shown;
  const written = (inclusion: Inclusion) => find(shown.size, levels, inclusion, place);
  return Object.assign({}, shown, { written });
}

async function find(
  size: number,
  levels: WrittenLevels,
  { plan, fields }: Inclusion,
  place: ShownPlace,
): Promise<WrittenRelated | null> {
  const level = levels.get(plan);
  const { rowView } = place.viewOf(plan);
  if (!level || rowView.isOfRecords || !isReadByRows(plan, false)) return null;
  const { children, nested } = level;
  if (rowView.columnsOf(fields).some((name, index) => children.columns[index] !== name)) return null;
  const access = await relatedAccess(place.request, plan);
  if (!isMet(relatedRows(plan, access), children, relatedSlots(access))) return null;
  const order = orderOf(plan.target, children);
  if (!order) return null;
  const groups = Array.from({ length: size }, (): Group => NO_ITEMS);
  for (const [index, place] of order.entries()) {
    const { row } = (children.items[place] as WrittenChildren['items'][number]).task;
    const known = groups[row] as Group;
    groups[row] = { first: known === NO_ITEMS ? index : known.first, end: index + 1, hasNext: false };
  }
  return { shown: someOf(withWritten(children.shown, nested, place), order), groups };
}

/** True where all rows meet a condition for sure: PostgreSQL may find values equal whose texts differ. */
function isMet(where: Predicate, children: WrittenChildren, slots: Slots): boolean {
  if (where.kind === 'and') return where.operands.every((each) => isMet(each, children, slots));
  const { items, shown, columns } = children;
  if (where.kind !== 'comparison' || where.jsonType || where.toMilliseconds || where.ofRange) return false;
  const [value, ...more] = where.values;
  if (value === undefined || more.length > 0 || !columns.includes(where.attribute)) return false;
  const texts = shown.column(where.attribute);
  if (where.operator === '=isnull=') return texts.every((text) => String(text === null) === value);
  if (where.operator !== '==') return false;
  if (value === PARENT) return texts.every((text, index) => text === items[index]?.task.key);
  const wanted = textOf(value, slots);
  return wanted !== null && texts.every((text) => text === wanted);
}

/** The places of rows in the order of a read, parent by parent; null where that is not sure. */
function orderOf(
  { info, defaultSort }: Inclusion['plan']['target'],
  children: WrittenChildren,
): readonly number[] | null {
  const { items, shown, columns } = children;
  const terms: { readonly values: readonly (bigint | number)[]; readonly sign: 1 | -1 }[] = [];
  for (const { attribute, descending } of defaultSort) {
    const texts = columns.includes(attribute) ? shown.column(attribute) : [null];
    if (texts.includes(null)) return null;
    const read = info.attributes.get(attribute)?.type.kind === 'bigint' ? BigInt : Number;
    terms.push({ values: texts.map((text) => read(text as string)), sign: descending ? -1 : 1 });
  }
  const rowOf = (place: number) => items[place]?.task.row ?? 0;
  const compare = (one: number, other: number): number => {
    if (rowOf(one) !== rowOf(other)) return rowOf(one) - rowOf(other);
    for (const { values, sign } of terms) {
      const a = values[one] as bigint | number;
      const b = values[other] as bigint | number;
      if (a !== b) return a < b ? -sign : sign;
    }
    return 0;
  };
  return items.map((_, place) => place).sort(compare);
}

/** Some of the records, in any order. */
export function someOf(shown: ShownRecords, rows: readonly number[]): ShownRecords {
  if (rows.length === shown.size && rows.every((row, index) => row === index)) return shown;
  const only = <T>(all: readonly T[]) => rows.map((row) => all[row] as T);
  const { loaded: _, formats: __, written, ...others } = shown;
  return {
    ...others,
    size: rows.length,
    rows: only(shown.rows),
    column: (attribute) => only(shown.column(attribute)),
    writer(fields) {
      const write = shown.writer(fields);
      return (index, more) => write(rows[index] as number, more);
    },
    values: (fields) => only(shown.values(fields)),
    ...(written && {
      async written(inclusion: Inclusion) {
        const found = await written(inclusion);
        return found && { shown: found.shown, groups: only(found.groups) };
      },
    }),
  };
}
