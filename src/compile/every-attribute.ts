/** `filterAllow: '*'` and `sortAllow: '*'` -> the attributes that they mean, and the reasons to leave others out. */
import type { Class, CrudOptions } from '../declare/crud-options.js';
import { typeWord } from '../describe/column-type.js';
import { type AttributeInfo, customAttributes } from '../describe/model-info.js';
import { hasJsonForm, isModel } from '../describe/record.js';
import { ofTables } from '../describe/table-facts.js';
import { spellingProblem } from './compile-filters.js';
import { hiddenBy, type OptionCheck } from './compile-options.js';
import { isSpelled } from './compile-sort.js';
import { isComparable, operatorsOf } from './filter-operators.js';
import type { EveryOption, Exposure, ResourcePlan } from './resource-plan.js';

const EVERY_OPTIONS = ['filterAllow', 'sortAllow'] as const;

/** Finds the form of an attribute in answers. It is injected, because it comes after this phase. */
export interface ShownReader {
  /** The properties of a schema class that may pass. */
  classProperties(schema: Class, direction: 'read' | 'write'): ReadonlySet<string>;
  /** True where a decorator makes something else of a value. */
  isTransformed(target: object, property: string, direction: 'read' | 'write'): boolean;
}

/** Attributes of a model that no answer shows: those that the user hid, and those that the class in the place of the derived one lacks. */
export function hiddenAttributes(
  names: Iterable<string>,
  { unreadable }: Pick<Exposure, 'unreadable'>,
  readSchema: unknown,
  { classProperties }: Pick<ShownReader, 'classProperties'>,
): ReadonlySet<string> {
  // Any other value is a problem of the option.
  if (typeof readSchema !== 'function' || isModel(readSchema)) return unreadable;
  const properties = classProperties(readSchema as Class, 'read');
  return new Set([...names].filter((name) => unreadable.has(name) || !properties.has(name)));
}

/** Options without `'*'`, and the attributes that it leaves out. */
export interface EveryAttribute {
  readonly options: CrudOptions;
  readonly everything: ResourcePlan['everything'];
}

/**
 * Replaces `'*'` with a list of the attributes whose values answers show unchanged. A comparison with any other attribute would
 * reveal a value that no answer has.
 */
export function everyAttribute(check: OptionCheck, shown: ShownReader): EveryAttribute {
  const { info, options, report } = check;
  const everything = new Map<EveryOption, () => string | null>();
  const lists: { [O in EveryOption]?: readonly never[] } = {};
  for (const option of EVERY_OPTIONS) {
    const given: unknown = options[option];
    if (given !== '*') continue;
    if (hasJsonForm(info.model))
      report(
        `${option} is '*', and toJSON or get of the model decides what answers show; name the attributes.`,
      );
    const reasons = [...info.attributes.values()].map(
      (each) => [each, whyLeftOut(check, shown, option, each)] as const,
    );
    lists[option] = reasons.flatMap(([{ name }, reason]) => (reason === undefined ? [name as never] : []));
    everything.set(
      option,
      ofTables(() => leftOutLine(option, reasons)),
    );
  }
  return { options: { ...options, ...lists }, everything };
}

/** True where the column has an order, as far as the catalogue says it. */
export function isOrdered({ found }: Pick<AttributeInfo, 'found'>): boolean {
  return found?.isOrdered ?? true;
}

function leftOutLine(
  option: EveryOption,
  reasons: readonly (readonly [AttributeInfo, string | undefined])[],
): string | null {
  const parts = reasons.flatMap(([attribute, reason]) => {
    const why = reason ?? (option === 'sortAllow' && !isOrdered(attribute) ? noOrder(attribute) : undefined);
    return why === undefined ? [] : [`${attribute.name} (${why})`];
  });
  return parts.length === 0 ? null : `${option}: '*' leaves out ${parts.join(', ')}.`;
}

function noOrder({ type, found }: AttributeInfo): string {
  return `${found?.type ?? typeWord(type)} has no order`;
}

/** The reason of `'*'` to leave out an attribute, for any type of its column; undefined where there is none. */
function whyLeftOut(
  { info, exposure, hidden, options: { fields, readSchema } }: OptionCheck,
  { isTransformed }: ShownReader,
  option: EveryOption,
  attribute: AttributeInfo,
): string | undefined {
  const { name, type } = attribute;
  if (exposure.unreadable.has(name)) return `${hiddenBy(info, name)} hides it`;
  const rules: Readonly<Record<string, { readonly read?: unknown } | undefined>> = { ...fields };
  if (rules[name]?.read === false) return 'fields hides it';
  if (hidden.has(name)) return 'the readSchema lacks it';
  const isShaped = isTransformed(typeof readSchema === 'function' ? readSchema : info.model, name, 'read');
  if (isShaped || customAttributes(info.model, 'get').has(name)) return 'code makes what answers show of it';
  if (type.kind === 'virtual') return 'it has no column';
  const isFilter = option === 'filterAllow';
  if (isFilter ? spellingProblem(name) !== undefined : !isSpelled(name)) return 'its name cannot be spelled';
  if (isFilter) return operatorsOf(type).length > 0 ? undefined : `${type.kind} has no operator`;
  return isComparable(type) ? undefined : noOrder(attribute);
}
