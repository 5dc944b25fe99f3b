/**
 * The attributes of models whose stored values no answer shows. A write of one counts as a change. Otherwise the version, or the moment
 * of the last change, would reveal that the stored value is the one that was sent.
 */

type Names = ReadonlySet<string>;

const NONE: Names = new Set();

/** Names by model. The functions in `later` are called at the first use. */
const known = new WeakMap<object, { all: Names; later: readonly (() => Names)[] }>();

/** Remembers attributes that the answers of a resource do not show. */
export function noteUnseen(model: object, names: () => Names): void {
  const { all, later } = known.get(model) ?? { all: NONE, later: [] };
  known.set(model, { all, later: [...later, names] });
}

/**
 * Attributes of a model whose writes count as changes; undefined where there are none.
 *
 * @param unreadable attributes that the request may not read beside them
 */
export function unseenOf(model: object, unreadable?: Names): Names | undefined {
  const found = known.get(model);
  if (found && found.later.length > 0) {
    found.all = new Set([found.all, ...found.later.map((names) => names())].flatMap((names) => [...names]));
    found.later = [];
  }
  const all = found?.all;
  if (!unreadable?.size) return all?.size ? all : undefined;
  return all?.size ? new Set([...all, ...unreadable]) : unreadable;
}
