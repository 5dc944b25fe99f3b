/** Predicates that operations are put together from. Frozen. */

import { scopeCondition } from '../describe/hooks-and-scopes-internals.js';
import type { RecordInfo, RowKey } from '../describe/model-info.js';
import { isOfKey } from '../describe/row-key.js';
import type {
  BareColumn,
  Comparison,
  Filter,
  FragmentFilter,
  OuterValue,
  Predicate,
  RelatedFilter,
  Slot,
  Value,
  WrittenFilter,
} from '../request/query/predicate.js';

/** All of the predicates that are there; null where none is. */
export function allOf(first: Predicate, ...more: readonly (Predicate | null)[]): Predicate;
export function allOf(...predicates: readonly (Predicate | null)[]): Predicate | null;
export function allOf(...predicates: readonly (Predicate | null)[]): Predicate | null;
export function allOf(...predicates: readonly (Predicate | null)[]): Predicate | null {
  const operands = predicates.filter((each) => each !== null);
  const [first = null] = operands;
  return operands.length > 1 ? Object.freeze({ kind: 'and', operands: Object.freeze(operands) }) : first;
}

/** The rows whose attribute compares with values as the operator says. */
export function compared<V extends Value>(
  attribute: string,
  operator: '==' | '=in=' | '=isnull=',
  values: readonly V[],
): Comparison<V> {
  return Object.freeze({ kind: 'comparison', attribute, operator, values: Object.freeze(values) });
}

/** The rows with this value of an attribute. */
export function equalTo<V extends Value>(attribute: string, value: V): Comparison<V> {
  return compared(attribute, '==', [value]);
}

/** The slot with the text of a part of the id: `id`, or `id.lineNo` where there are several. */
export function idSlot(key: RowKey, name: string): Slot {
  return Object.freeze({ slot: key.length === 1 ? 'id' : `id.${name}` });
}

/** The row with the id of the slots; no row where there is no key. */
export function byKey(key: RowKey): Predicate {
  const parts = key.map(({ name }) => equalTo(name, idSlot(key, name)));
  if (parts.length === 1) return parts[0] as Predicate;
  // Nothing finds a row without a key.
  return parts.length > 1
    ? Object.freeze({ kind: 'and', operands: Object.freeze(parts) })
    : sqlCondition`false`;
}

/** The rows with one of these keys. @param keys the texts of their parts */
export function withKeys(key: RowKey, keys: readonly (readonly string[])[]): Filter {
  const [first, ...more] = key;
  if (first && more.length === 0) return compared(first.name, '=in=', keys.flat());
  const rows = keys.map((texts): Filter => {
    return { kind: 'and', operands: key.map(({ name }, index) => equalTo(name, texts[index] as string)) };
  });
  return { kind: 'or', operands: rows };
}

/** The condition of one record, without that of its id. */
export function withoutId(where: Predicate, key: RowKey): Predicate | null {
  if (where.kind === 'comparison' && where.operator === '==') {
    const [value] = where.values;
    const isId =
      typeof value === 'object' &&
      isOfKey(key, where.attribute) &&
      value.slot === idSlot(key, where.attribute).slot;
    return isId ? null : where;
  }
  if (where.kind !== 'and') return where;
  return allOf(...where.operands.map((each) => withoutId(each, key)));
}

/**
 * The rows that a condition in SQL finds. An interpolated text or slot is a value, and `{ attribute }` is a column of the row.
 *
 * @example sqlCondition`${{ attribute: 'name' }} ILIKE ${pattern}`
 */
export function sqlCondition<V extends Value>(
  texts: TemplateStringsArray,
  ...parts: readonly (V | OuterValue)[]
): FragmentFilter<V> {
  return Object.freeze({ kind: 'sql', texts: Object.freeze([...texts]), parts: Object.freeze(parts) });
}

/** The rows that the default scope of a model finds at this moment; null where it has no condition. */
export function scopedRows(target: RecordInfo): WrittenFilter | null {
  const text = scopeCondition(target.model);
  return text === null ? null : Object.freeze({ kind: 'written', target, text });
}

/** The value that an attribute has in all rows of a predicate; undefined where it may have several. */
export function valueAsked(where: Predicate, attribute: string): Value | undefined {
  if (where.kind === 'comparison') {
    return where.operator === '==' && where.attribute === attribute ? where.values[0] : undefined;
  }
  if (where.kind !== 'and') return undefined;
  for (const operand of where.operands) {
    const value = valueAsked(operand, attribute);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** True where a key is compared with the row around the subquery. */
export function isOuterValue(value: Value | OuterValue | BareColumn): value is OuterValue {
  return typeof value === 'object' && 'attribute' in value;
}

/** True for a column that no attribute has. */
export function isBareColumn(value: Value | BareColumn): value is BareColumn {
  return typeof value === 'object' && 'column' in value;
}

/** The same predicate with the texts of its slots bound. @throws TypeError for a slot without a text */
export function bindTexts(
  predicate: RelatedFilter<Value>,
  slots: Readonly<Record<string, string>>,
): RelatedFilter;
export function bindTexts(predicate: Predicate, slots: Readonly<Record<string, string>>): Filter;
export function bindTexts(predicate: Predicate, slots: Readonly<Record<string, string>>): Filter {
  const bind = (value: Value): string => {
    const text = typeof value === 'string' ? value : slots[value.slot];
    if (text !== undefined) return text;
    throw new TypeError(`Nothing has given a text for a slot of ${predicate.kind}.`);
  };
  switch (predicate.kind) {
    case 'comparison':
      return Object.freeze({ ...predicate, values: Object.freeze(predicate.values.map(bind)) });
    case 'written':
      return predicate;
    case 'sql': {
      const parts = predicate.parts.map((part) =>
        isOuterValue(part) || isBareColumn(part) ? part : bind(part),
      );
      return Object.freeze({ ...predicate, parts: Object.freeze(parts) });
    }
    case 'exists': {
      const { value, more = [], where, ...others } = predicate;
      const bound = (each: Value | OuterValue) => (isOuterValue(each) ? each : bind(each));
      const further = more.map((each) => Object.freeze({ ...each, value: bound(each.value) }));
      return Object.freeze({
        ...others,
        value: bound(value),
        ...(further.length > 0 ? { more: Object.freeze(further) } : {}),
        where: where && bindTexts(where, slots),
      });
    }
    default: {
      const operands = predicate.operands.map((each) => bindTexts(each, slots));
      return Object.freeze({ kind: predicate.kind, operands: Object.freeze(operands) });
    }
  }
}
