/** What was read of many parents, parent by parent -> the items of each. */

/** The items of one parent, by their place. */
export interface Group {
  readonly rows: readonly number[];
  readonly hasNext: boolean;
}

/** Of a parent without any. */
export const NO_ITEMS: Group = Object.freeze({ rows: [], hasNext: false });

/** Takes items apart by parent, without those that only tell that there are more. */
export function groupByParent(parents: readonly number[], keys: readonly string[], size: number) {
  const groups = new Map(keys.map((key) => [key, { rows: [] as number[], hasNext: false }]));
  const kept: number[] = [];
  for (const [index, parent] of parents.entries()) {
    const group = groups.get(keys[parent] as string) as { rows: number[]; hasNext: boolean };
    if (group.rows.length < size) group.rows.push(kept.push(index) - 1);
    else group.hasNext = true;
  }
  return { groups: groups as ReadonlyMap<string, Group>, kept };
}
