/**
 * Predicates of one shape -> one text. The bound values of a predicate become slots, and the rest of it is its shape:
 * attributes, operators, and names of slots.
 */
import { operatorRow } from '../../declare/filter-operators.js';
import { isBareColumn, isOuterValue } from '../../operation/predicates.js';
import type {
  Comparison,
  FragmentFilter,
  Predicate,
  RelatedFilter,
  Slot,
  Value,
} from '../../request/query/predicate.js';
import { arrayValue } from './predicate-sql.js';

/** A predicate without bound values, and these. */
export interface LiftedPredicate {
  readonly predicate: Predicate | null;
  /** The same for two predicates only if they compile to the same text. */
  readonly shape: string;
  /** By slot; null where there are none. */
  readonly bound: Readonly<Record<string, string>> | null;
  /** Attributes that have to be equal to a slot of the operation's own; null where slots mean anything else. */
  readonly slotted: readonly string[] | null;
}

/** The predicate of every row. */
export const UNCONDITIONAL: LiftedPredicate = Object.freeze({
  predicate: null,
  shape: '',
  bound: null,
  slotted: [],
});

/** No name of an attribute or a slot has it. It begins a part of the structure. */
const END = '\0';

const liftedBefore = new WeakMap<Predicate, LiftedPredicate>();

/** Lifts the bound values out of a predicate. One that has values is that of a request, and does not come again. */
export function liftValues(predicate: Predicate): LiftedPredicate {
  const before = liftedBefore.get(predicate);
  if (before) return before;
  const lifting = new Lifting();
  const whole = lifting.predicate(predicate);
  const { shape, bound, slotted, hasOtherSlots } = lifting;
  const lifted = { predicate: whole, shape, bound, slotted: hasOtherSlots ? null : slotted };
  if (bound === null && Object.isFrozen(predicate)) liftedBefore.set(predicate, lifted);
  return lifted;
}

/** Several predicates of one statement without bound values, and these. */
interface LiftedPredicates {
  readonly where: Predicate | null;
  /** The others, in their order. */
  readonly rows: readonly Predicate[];
  readonly shape: string;
  readonly bound: Readonly<Record<string, string>>;
}

/** Lifts the bound values out of several predicates, which stay apart. */
export function liftAll(
  where: Predicate | null,
  rows: readonly Predicate[],
  name: SlotName = 'bound',
): LiftedPredicates {
  const lifting = new Lifting(name);
  const lifted = where && lifting.predicate(where);
  lifting.shape += `${END}${where === null}`;
  const others = rows.map((row) => lifting.predicate(row));
  return { where: lifted, rows: others, shape: lifting.shape, bound: lifting.bound ?? {} };
}

class Lifting {
  shape = '';
  bound: Record<string, string> | null = null;
  readonly slotted: string[] = [];
  hasOtherSlots = false;
  readonly #name: SlotName;
  #isInOr = false;
  #count = 0;

  constructor(name: SlotName = 'bound') {
    this.#name = name;
  }

  predicate(predicate: Predicate): Predicate {
    if (predicate.kind === 'comparison') return this.#comparison(predicate);
    if (predicate.kind === 'exists') return this.#exists(predicate);
    if (predicate.kind === 'sql') return this.#fragment(predicate);
    if (predicate.kind === 'written') {
      this.shape += `${END}${predicate.kind}(${predicate.target.name}${END}${predicate.text}${END})`;
      return predicate;
    }
    const { kind, operands } = predicate;
    this.shape += `${END}${kind}(`;
    const isInOr = this.#isInOr;
    this.#isInOr ||= kind === 'or';
    const lifted = operands.map((each) => this.predicate(each));
    this.#isInOr = isInOr;
    this.shape += `${END})`;
    return { kind, operands: lifted };
  }

  #fragment(fragment: FragmentFilter<Value>): FragmentFilter<Value> {
    const { kind, texts, parts } = fragment;
    this.shape += `${END}${kind}(`;
    const lifted = parts.map((part, index) => {
      this.shape += `${texts[index]}${END}`;
      if (isOuterValue(part)) this.shape += `^${part.attribute}${END}`;
      else if (isBareColumn(part)) this.shape += `^^${part.column}${END}`;
      else {
        this.hasOtherSlots = true;
        return this.#lift(part);
      }
      return part;
    });
    this.shape += `${texts[parts.length]}${END})`;
    return { ...fragment, parts: lifted };
  }

  #exists(exists: RelatedFilter<Value>): RelatedFilter<Value> {
    const { kind, isNegated = false, target, more = [], where } = exists;
    this.shape += `${END}${isNegated ? '!' : ''}${kind}(${target.name}${END}`;
    this.hasOtherSlots = true;
    const lift = ({ key, value }: NonNullable<typeof exists.more>[number]) => {
      this.shape += `${key}${END}`;
      if (!isOuterValue(value)) return { key, value: this.#lift(value) };
      this.shape += `^${value.attribute}${END}`;
      return { key, value };
    };
    const lifted = { ...exists, ...lift(exists), ...(more.length > 0 ? { more: more.map(lift) } : {}) };
    const condition = where && this.predicate(where);
    this.shape += `${END})`;
    return { ...lifted, where: condition };
  }

  #comparison(comparison: Comparison<Value>): Comparison<Value> {
    const { attribute, jsonType, operator, values, toMilliseconds, ofRange } = comparison;
    this.shape += `${attribute}${END}${operator}`;
    if (jsonType) this.shape += `${jsonType}${END}`;
    if (toMilliseconds) this.shape += `~${END}`;
    if (ofRange) this.shape += `r${END}`;
    const { takes } = operatorRow(operator, ofRange);
    if (takes === 'truth') {
      this.shape += `${values[0]}${END}`;
      return comparison;
    }
    const [first] = values;
    if (operator === '==' && typeof first === 'object' && !this.#isInOr) this.slotted.push(attribute);
    else if (values.some((value) => typeof value === 'object')) this.hasOtherSlots = true;
    const lifted = (takes === 'list' ? [arrayValue(values)] : values).map((value) => this.#lift(value));
    this.shape += END;
    return { ...comparison, values: lifted };
  }

  #lift(value: Value): Slot {
    if (typeof value === 'object') {
      this.shape += `:${value.slot}${END}`;
      return value;
    }
    this.shape += '?';
    const slot = slotAt(this.#name, this.#count);
    this.#count += 1;
    this.bound ??= {};
    this.bound[slot.slot] = value;
    return slot;
  }
}

/** Names of slots for values that are lifted: those of an order are apart from those of conditions. */
type SlotName = 'bound' | 'order';

const known: Record<string, Slot[]> = {};

/** A slot with a number from 0. */
export function slotAt(name: SlotName | 'keyset', index: number): Slot {
  known[name] ??= [];
  const slots = known[name];
  slots[index] ??= Object.freeze({ slot: `${name}.${index}` });
  return slots[index];
}
