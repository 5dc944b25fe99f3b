/** Reads what is behind a relation of many records, and takes it apart: the items of each of them, and whether there are more. */
import { type FoundRelated, type RelatedContext, type RelatedRequest, readRelated } from './read-related.js';

/** Request for the items of a relation. */
export interface ItemsRequest extends Omit<RelatedRequest, 'limit'> {
  /** Items of each parent; null is all of them. */
  readonly size: number | null;
}

/** The items of one parent: those from one place up to another. */
export interface Group {
  readonly first: number;
  readonly end: number;
  readonly hasNext: boolean;
}

/** Of a parent without any. */
export const NO_ITEMS: Group = Object.freeze({ first: 0, end: 0, hasNext: false });

/** The items of all parents. */
export interface ItemsByParent {
  /** By key. A parent without items has none. */
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
  const groups = new Map<string, Group>();
  const isKept: boolean[] = [];
  let end = 0;
  for (let index = 0; index < parents.length; ) {
    const parent = parents[index] as number;
    const first = end;
    let hasNext = false;
    for (; parents[index] === parent; index += 1) {
      isKept[index] = size === null || end - first < size;
      if (isKept[index]) end += 1;
      else hasNext = true;
    }
    groups.set(distinct[parent] as string, { first, end, hasNext });
  }
  const some = <T>(all: readonly T[]): readonly T[] =>
    end === all.length ? all : all.filter((_, index) => isKept[index]);
  if (!found.records) return { groups, items: { ...found, rows: some(found.rows) } };
  const columns = new Map([...found.columns].map(([name, texts]) => [name, some(texts)]));
  return { groups, items: { ...found, records: some(found.records), columns } };
}
