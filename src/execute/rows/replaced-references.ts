/** The references of a replacement: a new row and a change may have others. */
import { keyAttributes } from '../../describe/foreign-keys.js';
import type { Reference, ReplaceOperation } from '../../operation/operation.js';

type Referring = Pick<ReplaceOperation, 'references'>;
type Values = Readonly<Record<string, unknown>>;

/** The references of an operation that a new row has. */
export function referencesOfRow({ references = [] }: Referring, row: Values): readonly Reference[] {
  return references.filter((each) => keyAttributes(each).every((name) => (row[name] ?? null) !== null));
}

/** References of an operation that a change writes at least a part of. The row itself has the other parts. */
export function referencesOfChange({ references = [] }: Referring, set: Values): readonly Reference[] {
  return references.flatMap((reference): Reference | [] => {
    const { attribute, key, more = [] } = reference;
    const pairs = [{ attribute, key }, ...more];
    const own = pairs.filter((each) => set[each.attribute] === undefined);
    const [first, ...others] = pairs.filter((each) => !own.includes(each));
    if (!first || pairs.some((each) => set[each.attribute] === null)) return [];
    return own.length === 0 ? reference : { ...reference, ...first, more: others, own };
  });
}
