/** A statement with numbered parameters, and where the text of each is found. */
import type { Slot, Value } from '../../request/query/predicate.js';
import { renderSql, type SqlFragment } from './sql-fragment.js';

/** A statement. Its text serves all operations of a shape. */
export interface Statement {
  readonly text: string;
  /** A value for each parameter. */
  readonly values: readonly Value[];
}

/** The texts of slots, by name. Null is NULL. */
export type Slots = Readonly<Record<string, string | null>>;

/** The value that an attribute of a row gets. */
export function writtenSlot(attribute: string): Slot {
  return { slot: `set.${attribute}` };
}

/** No slots. */
export const NO_SLOTS: Slots = Object.freeze({});

/** All of the slots. A spread takes twenty times as long, for names with dots. */
export function joinSlots(first: Slots, second: Slots): Record<string, string | null> {
  const joined: Record<string, string | null> = {};
  for (const name in first) joined[name] = first[name] as string | null;
  for (const name in second) joined[name] = second[name] as string | null;
  return joined;
}

/** The only place where parameters are numbered. */
export function toStatement(fragment: SqlFragment): Statement {
  return { text: renderSql(fragment, (_, index) => `$${index + 1}`), values: fragment.values };
}

/** The texts of the parameters. */
export function fillSlots({ values }: Statement, slots: Slots): (string | null)[] {
  const texts: (string | null)[] = [];
  for (const value of values) texts.push(textOf(value, slots));
  return texts;
}

/** The text of a value: its own, or that of its slot. */
export function textOf(value: Value, slots: Slots): string | null {
  if (typeof value === 'string') return value;
  const text = slots[value.slot];
  if (text === undefined) throw new TypeError(`The slot '${value.slot}' has no value.`);
  return text;
}

/** The same statement with bound values in some of its slots. */
export function bindSlots({ text, values }: Statement, slots: Readonly<Record<string, string>>): Statement {
  return {
    text,
    values: values.map((value) => (typeof value === 'string' ? value : (slots[value.slot] ?? value))),
  };
}
