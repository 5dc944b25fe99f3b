/** Access of one request to a resource: part of its operation, so that nothing can go round it. */
import type { ModelClass } from '../declare/crud-options.js';
import { ofTables } from '../describe/table-facts.js';
import type { Predicate } from '../request/query/predicate.js';
import { valueText } from '../request/query/rule-filters.js';
import { perObject } from '../util/memo.js';
import type { Reference } from './operation.js';

/** Mode in which a request may write a scoped attribute: the one value, one of several, or any. */
export type ScopeMode = 'one' | 'several' | 'any';

/**
 * Common part of the access of many requests: conditions with slots in the place of values, and rules of attributes.
 * Requests with the same rules have the same object, so that everything compiled for it is compiled once.
 */
export interface AccessForm {
  readonly scope: ReadonlyMap<string, ScopeMode>;
  /** Condition on rows that is the same for all such requests; null is no condition. */
  readonly where: Predicate | null;
  readonly unreadable: ReadonlySet<string>;
  readonly unwritable: ReadonlySet<string>;
  /** Attributes that no request sends, because the server sets them. */
  readonly given: ReadonlySet<string>;
}

/** Values that rules of `set` return, by attribute: for a new row, and for a change. */
export type GivenValues = Readonly<Record<'create' | 'update', Readonly<Record<string, unknown>>>>;

/** The values of a request without such rules. */
export const NONE_GIVEN: GivenValues = Object.freeze({
  create: Object.freeze({}),
  update: Object.freeze({}),
});

/** The access of one request. It is not frozen, because there is one for each request; nothing changes it. */
export interface Access {
  readonly form: AccessForm;
  /** Condition on rows: that of the form, and the part that differs from request to request. */
  readonly where: Predicate | null;
  /** Condition on the rows in `where` that the operation of the request may change or delete; null is all of them. */
  readonly allowed: Predicate | null;
  /** Values that the server sets in rows that the operation writes. */
  readonly given: GivenValues;
  /** The texts of the slots in `where`. */
  readonly slots: Readonly<Record<string, string>>;
  /** The values that a scoped attribute may have, as records have them. An attribute that may have any is left out. */
  values(): ReadonlyMap<string, readonly unknown[]>;
  /** Rows that the values of a write have to name. Their slots are among `slots`. */
  readonly references: readonly Reference[];
  /** Identifies the rows of this access; part of cursors. Empty where all rows may be seen. */
  digest(): string;
}

const NO_VALUES: ReadonlyMap<string, readonly unknown[]> = new Map();

/** All rows and attributes: of resources without rules. */
export const OPEN_ACCESS: Access = Object.freeze({
  form: Object.freeze({
    scope: new Map<string, ScopeMode>(),
    where: null,
    unreadable: new Set<string>(),
    unwritable: new Set<string>(),
    given: new Set<string>(),
  }),
  where: null,
  allowed: null,
  given: NONE_GIVEN,
  slots: Object.freeze({}),
  values: () => NO_VALUES,
  references: Object.freeze([]),
  digest: () => '',
});

/** The same access with other parts. It may have methods of a class. */
export function accessWith(
  access: Access,
  others: Partial<Pick<Access, 'where' | 'allowed' | 'slots' | 'references'>>,
): Access {
  const { form, where, allowed, given, slots, references } = access;
  const methods = { values: () => access.values(), digest: () => access.digest() };
  return Object.freeze({ form, where, allowed, given, slots, references, ...methods, ...others });
}

/**
 * The values of a write with those that the server sets; those that code has passed stay. A change without a value is none, and gets
 * none.
 *
 * @param isTouched true for a change whose other rows raise the version of its own
 */
export function withGiven(
  values: Readonly<Record<string, unknown>>,
  { form, given }: Pick<Access, 'form' | 'given'>,
  kind: 'create' | 'update',
  isTouched = false,
): Readonly<Record<string, unknown>> {
  const isEmpty = () => Object.values(values).every((value) => value === undefined);
  if (form.given.size === 0 || (kind === 'update' && !isTouched && isEmpty())) return values;
  const passed = Object.entries(values).filter(([, value]) => value !== undefined);
  const others = Object.entries(given[kind]).filter(([name]) => values[name] === undefined);
  // Behind the others: setters of a model, which run in this order, may write more than their attributes.
  return Object.fromEntries([...passed, ...others]);
}

/** Memoizes a value of a form until tables are read again: schemas of bodies and choices of columns follow from them. */
export function perForm<T extends object>(make: (form: AccessForm) => T): (form: AccessForm) => T {
  const memo = ofTables(() => perObject(OPEN_ACCESS.form, make));
  // Faults of the usual form are thrown here.
  memo();
  return (form) => memo()(form);
}

/** Attributes that a body cannot have: the server writes the values of the scope, and they stay. */
export function closedAttributes(
  { scope, unwritable, given }: AccessForm,
  kind: 'create' | 'update',
): ReadonlySet<string> {
  const scoped = [...scope].filter(([, mode]) => kind === 'update' || mode === 'one');
  return new Set([...scoped.map(([name]) => name), ...unwritable, ...given]);
}

/**
 * Returns the access of a request, or a promise of it where a rule of the application's does.
 *
 * @param values that are written, by attribute
 * @param kind the write that gets the values which the server sets, too. Default: none
 */
export interface AccessSource {
  (values?: Readonly<Record<string, unknown>>, kind?: 'create' | 'update'): Access | Promise<Access>;
  /** True where the request may read and write all rows, and only the values of references are checked. */
  readonly isOpen?: boolean;
  /** Attributes of the model whose values have to name rows that the request sees, those of one key together. */
  readonly keys?: readonly (readonly string[])[];
  /** Source for the repositories of a model; null where they have no rules. */
  of?(model: ModelClass): AccessSource | null;
  /** The same for another model, whose rows are loaded along. */
  to(model: ModelClass): Access | Promise<Access>;
}

/** The value that every new row gets; undefined where there is a choice. */
export function presetOf(access: Access, attribute: string): unknown {
  return access.form.scope.get(attribute) === 'one' ? access.values().get(attribute)?.[0] : undefined;
}

/** Where a new row would belong, as texts of scoped attributes. A row that is there elsewhere is not replaced with it. */
export function placeWithin(
  { form: { scope } }: Access,
  row: Readonly<Record<string, unknown>>,
): readonly (readonly [attribute: string, text: string])[] {
  return [...scope.keys()].flatMap((name) => {
    const text = valueText(row[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
}

/** True where a row may be written with a value of a scoped attribute. Compared as texts: keys are numbers or texts. */
export function allowsValue(access: Access, attribute: string, value: unknown): boolean {
  if (access.form.scope.get(attribute) === 'any') return true;
  const text = valueText(value);
  return (
    text !== undefined && (access.values().get(attribute) ?? []).some((each) => valueText(each) === text)
  );
}
