/** `filterAllow` of a resource -> the operators of each of its own attributes. */
import { type CanonicalFilterOperator, JSON_TYPES, type JsonType } from '../declare/crud-options.js';
import { canonicalOperator, operatorSpellings } from '../declare/filter-operators.js';
import { type NamedForm, namedForm } from '../declare/named-types.js';
import { type ColumnType, comparedType, isJsonb, typeWord } from '../describe/column-type.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { relationNames } from '../describe/relations.js';
import { ofTables } from '../describe/table-facts.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { type AttributeCheck, type OptionCheck, visibleAttribute } from './compile-options.js';
import { comparedText, narrowerType, operatorsOf, operatorsOfColumn, rangeMark } from './filter-operators.js';
import type { FilterPlan } from './resource-plan.js';

/** Entries of `filterAllow`, written as a list or as an object; `'*'` has none by name. */
export function filterEntries(allow: object | '*'): readonly (readonly [name: string, wanted: unknown])[] {
  if (allow === '*') return [];
  return Array.isArray(allow) ? allow.map((name) => [String(name), true] as const) : Object.entries(allow);
}

/** True where a name is about a relation of the model. No attribute has the name of a relation. */
export function isRelated({ info: { model, attributes } }: Pick<OptionCheck, 'info'>, name: string): boolean {
  const [first = ''] = name.split('.');
  if (attributes.has(name) || attributes.has(first)) return false;
  return name.includes('.') || relationNames(model).includes(name);
}

/** Compiles the filters of a resource. Filters of relations are compiled when all resources are. */
export function compileFilters(check: OptionCheck): ReadonlyMap<string, FilterPlan> {
  const filters = new Map<string, FilterPlan>();
  for (const [name, wanted] of filterEntries(check.options.filterAllow ?? [])) {
    const filter = isRelated(check, name) ? null : compileFilter(check, name, wanted);
    if (filter) filters.set(name, filter);
  }
  return filters;
}

/** Why `q` cannot have a name of an attribute or a relation; undefined where it can. */
export function spellingProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_]+$/.test(name)) return undefined;
  return 'which q cannot spell; rename it with letters of ASCII, digits and _, or remove it';
}

/** One attribute; null where it cannot be filtered by, which is reported. */
export function compileFilter(check: AttributeCheck, name: string, wanted: unknown): FilterPlan | null {
  const [first = '', ...keys] = name.split('.');
  if (!check.info.attributes.has(name) && keys.length > 0) return compilePath(check, first, name, wanted);
  const attribute = visibleAttribute(check, 'filterAllow', name, relationNames(check.info.model));
  if (!attribute) return null;
  const { type } = attribute;
  const available = operatorsOf(type);
  const problem = available.length > 0 ? spellingProblem(name) : 'whose type cannot be filtered; remove it';
  if (problem !== undefined) {
    check.report(`filterAllow names '${check.prefix ?? ''}${name}', ${problem}.`);
    return null;
  }
  const operators = wanted === true ? available : narrowOperators(check, attribute, wanted);
  const compared = ofTables(() => comparedText(comparedType(type), attribute.found));
  const ofColumn = ofTables(() => operatorsOfColumn(operators, type, attribute.found));
  const narrower = ofTables(() => narrowerType(type, attribute.found?.baseType));
  return Object.freeze({
    attribute: name,
    type,
    ...rangeMark(type),
    get compared() {
      return compared();
    },
    get operators() {
      return ofColumn();
    },
    get narrower() {
      return narrower();
    },
  });
}

/** Types as which values inside of JSON are compared. */
const COMPARED: Readonly<Record<JsonType, ColumnType>> = {
  string: { kind: 'string', maxLength: null },
  number: { kind: 'float', maximum: Number.MAX_VALUE, isOfJson: true },
  boolean: { kind: 'boolean' },
};

/** A value inside of an attribute. Its type is that of the option. */
function compilePath(
  check: AttributeCheck,
  attribute: string,
  name: string,
  wanted: unknown,
): FilterPlan | null {
  const { report, prefix = '' } = check;
  if (!visibleAttribute(check, 'filterAllow', attribute)) return null;
  const jsonType = JSON_TYPES.find((each) => each === wanted);
  const problem = pathProblem(check, attribute, name);
  if (problem !== undefined) report(`filterAllow names '${prefix}${name}', ${problem}.`);
  else if (!jsonType)
    report(
      `filterAllow names '${prefix}${name}', a value inside of JSON, without what it is; ` +
        `use '${prefix}${name}': 'string', 'number' or 'boolean'.`,
    );
  else {
    const type = COMPARED[jsonType];
    return Object.freeze({ attribute, type, compared: type, jsonType, operators: operatorsOf(type) });
  }
  return null;
}

function pathProblem({ info }: AttributeCheck, attribute: string, name: string): string | undefined {
  const dataType = info.model.getAttributes()[attribute]?.type;
  if (!dataType || !isJsonb(dataType))
    return `and ${attribute} is no column of JSONB, which has values inside; remove it`;
  return name
    .split('.')
    .map(spellingProblem)
    .find((each) => each !== undefined);
}

function narrowOperators(
  { report, prefix = '' }: AttributeCheck,
  { name, type }: AttributeInfo,
  wanted: unknown,
): readonly CanonicalFilterOperator[] {
  const available = operatorsOf(type);
  const option = `filterAllow.${prefix}${name}`;
  if (!Array.isArray(wanted) || wanted.length === 0) {
    report(`${option} is ${showValue(wanted)}; use true or a list of operators.`);
    return available;
  }
  const { reason }: Partial<NamedForm> = type.kind === 'named' ? namedForm(type.name) : {};
  const operators = new Set<CanonicalFilterOperator>();
  for (const spelling of wanted.map(String)) {
    const operator = canonicalOperator(spelling);
    if (operator && available.includes(operator)) operators.add(operator);
    else {
      report(
        `${option} has the operator '${spelling}', which ` +
          `${operator ? `a ${typeWord(type)} column does not have` : 'does not exist'}; ` +
          `use some of ${available.join(', ')}.${operator ? (reason ? ` ${reason}` : '') : didYouMean(spelling, operatorSpellings())}`,
      );
    }
  }
  return Object.freeze([...operators]);
}
