/** Reads what is behind a relation of many records, and takes it apart: the items of each of them, and whether there are more. */
import { type FoundRelated, type RelatedContext, type RelatedRequest, readRelated } from './read-related.js';

/** What is asked of a relation. */
export interface ItemsRequest extends Omit<RelatedRequest, 'limit'> {
  /** Items of each parent; null is all of them. */
  readonly size: number | null;
}

/** The items of one parent, by their place. */
export interface Group {
  readonly rows: readonly number[];
  readonly hasNext: boolean;
}

/** Of a parent without any. */
export const NO_ITEMS: Group = Object.freeze({ rows: [], hasNext: false });

/** The items of all parents. */
export interface ItemsByParent {
  /** By key. Each parent that was asked for has one. */
  readonly groups: ReadonlyMap<string, Group>;
  /** Without the rows that only tell that there are more. */
  readonly items: FoundItems;
}

/** Rows or records. */
export type FoundItems =
  | Omit<Extract<FoundRelated, { readonly records: null }>, 'parents'>
  | Omit<Extract<FoundRelated, { readonly rows: null }>, 'parents'>;

/** Reads the items of parents with these keys. */
export async function readItems(
  { size, ...request }: ItemsRequest,
  keys: readonly (string | null)[],
  context: RelatedContext,
): Promise<ItemsByParent> {
  const distinct = [...new Set(keys.filter((key) => key !== null))];
  // One more tells whether there are others.
  const limit = request.plan.relation.isOne ? 1 : size === null ? null : size + 1;
  const { parents, ...found } = await readRelated({ ...request, limit }, distinct, context);
  const groups = new Map(distinct.map((key) => [key, { rows: [] as number[], hasNext: false }]));
  const kept: number[] = [];
  for (const [index, parent] of parents.entries()) {
    const group = groups.get(distinct[parent] as string) as { rows: number[]; hasNext: boolean };
    if (size === null || group.rows.length < size) group.rows.push(kept.push(index) - 1);
    else group.hasNext = true;
  }
  const some = <T>(all: readonly T[]): readonly T[] => kept.map((index) => all[index] as T);
  if (!found.records) return { groups, items: { ...found, rows: some(found.rows) } };
  const columns = new Map([...found.columns].map(([name, texts]) => [name, some(texts)]));
  return { groups, items: { ...found, records: some(found.records), columns } };
}
