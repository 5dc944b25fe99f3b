/** The class that a parameter of the user's is asked as, and whether it is a list of it. */
import type { Class } from '../../declare/crud-options.js';

/** Type that the value of a parameter has to have. */
export interface AskedType {
  /** Null where any value will do, or a plain one. */
  readonly target: Class | null;
  readonly isList: boolean;
}

/** Types whose values have no properties to validate. */
const PLAIN: ReadonlySet<unknown> = new Set([Object, Array, String, Number, Boolean, Date, BigInt, Symbol]);

/**
 * @param explicit the type in the options of the decorator
 * @param declared the type that the compiler has emitted
 * @returns null where nothing is asked
 */
export function askedType(explicit: unknown, declared: unknown, isArray = false): AskedType | null {
  const type = explicit ?? declared;
  const isList = isArray || declared === Array || type === Array;
  const target = typeof type === 'function' && !PLAIN.has(type) ? (type as Class) : null;
  return target || isList ? { target, isList } : null;
}
