/** Writes of many records -> the parts that one statement for all of them has in common. */
import { keyAttributes, rivalAttributes } from '../../describe/foreign-keys.js';
import { type ModelInfo, type RecordInfo, type RowKey, XMIN } from '../../describe/model-info.js';
import { isOfKey } from '../../describe/row-key.js';
import { tableFacts } from '../../describe/table-facts.js';
import type { Access } from '../../operation/access.js';
import type { Reference, Selection } from '../../operation/operation.js';
import type { Predicate } from '../../request/query/predicate.js';
import { liftAll } from '../sql/lift-values.js';
import type { GivenReference } from '../sql/write-many-sql.js';
import { rowReferred } from '../sql/write-sql.js';

type Values = Readonly<Record<string, unknown>>;

/** Columns of rows that are only counted. */
export const COUNTED: Selection = Object.freeze({ columns: Object.freeze([]) });

/** Compiles a test of writes: true where one order of them could be refused, and another one not. */
export function orderTest(info: ModelInfo) {
  const { unique, ownReferences } = rivalAttributes(info);
  /** @param changes values of rows that are there, and are found by the key */
  return (rows: readonly Values[], changes: readonly Values[], key: RowKey = info.address): boolean => {
    const isOwn = (values: Values) => [...ownReferences].some((name) => (values[name] ?? null) !== null);
    const isRival = (values: Values) =>
      [...unique].some((name) => values[name] !== undefined && !isOfKey(key, name));
    return (ownReferences.size > 0 && rows.some(isOwn)) || changes.filter(isRival).length > 1;
  };
}

/** References in the values of any record. A request sees the same rows of a model for each of them. */
export function referred(accesses: readonly Access[]): { readonly references?: readonly Reference[] } {
  const all = new Map<string, Reference>();
  for (const { references } of accesses)
    for (const each of references) all.set([...keyAttributes(each), each.target.name].join('\0'), each);
  return all.size === 0 ? {} : { references: [...all.values()] };
}

/** Slots of the accesses. Only values that refer to rows have more of them than the request. */
export function slotsOf(accesses: readonly Access[]): Access['slots'] {
  return Object.assign({}, ...new Set(accesses.map(({ slots }) => slots)));
}

/**
 * True where a write would return `xmin` of a row in a partitioned table. PostgreSQL has no system column of a row that it moves to
 * another partition (0A000). The column is read after the write then.
 */
export function lacksState({ model }: Pick<RecordInfo, 'model'>, { columns }: Selection): boolean {
  return columns.includes(XMIN) && tableFacts(model)?.kind === 'partitioned table';
}

/** The rows of a write by a predicate, without bound values, and these. */
export function liftMatching(
  where: Predicate | null,
  allowed: Predicate | null,
  references: readonly Predicate[],
) {
  const { where: found, rows, ...lifted } = liftAll(where, allowed ? [allowed, ...references] : references);
  const [first = null, ...others] = rows;
  const referred = allowed ? { allowed: first, references: others } : { allowed: null, references: rows };
  return {
    ...lifted,
    shape: `${allowed ? 'allowed ' : ''}${lifted.shape}`,
    rows: { where: found, ...referred },
  };
}

/** The row of a reference, by the values of a row of the request. */
export function givenRow(reference: Reference): Predicate {
  return rowReferred(reference, (attribute) => ({ attribute }));
}

/** References with the lifted conditions of their rows. */
export function withRows(references: readonly Reference[], rows: readonly Predicate[]): GivenReference[] {
  return rows.map((row, index) => ({ row, attributes: keyAttributes(references[index] as Reference) }));
}
