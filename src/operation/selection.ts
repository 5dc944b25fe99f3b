/** Selections that have more columns than the one they are made of. */
import { BoundedCache } from '../util/memo.js';
import type { Selection } from './operation.js';

/** Adds columns that answers do not show. The same for the same selection and names, so that texts are known again. */
export function compileAlso(): (select: Selection, names: readonly string[]) => Selection {
  const known = new WeakMap<Selection, BoundedCache<Selection>>();
  return (select, names) => {
    const cache = known.get(select) ?? new BoundedCache<Selection>();
    known.set(select, cache);
    return cache.get(names.join('\0'), () => {
      const columns = Object.freeze([...new Set([...select.columns, ...names])]);
      return columns.length === select.columns.length ? select : Object.freeze({ columns });
    });
  };
}
