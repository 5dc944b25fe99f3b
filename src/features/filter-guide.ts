/** Description of `q` on a resource, for people: a table of fields and operators, and examples that work. */

import { relationOperators } from '../compile/filter-operators.js';
import type { FilterPlan, RelationFilter, ResourcePlan } from '../compile/resource-plan.js';
import { type CanonicalFilterOperator, FILTER_OPERATORS, operatorRow } from '../declare/filter-operators.js';
import { type ColumnType, comparedType, isRangeType } from '../describe/column-type.js';
import { FILTER_LIMITS } from '../request/query/filter-syntax.js';
import { exampleRange } from '../request/query/filter-value.js';
import { columnSchema } from '../schema/body-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { exampleValue } from './example-value.js';

const MAX_EXAMPLES = 3;
/** Values without a character that RSQL reserves, which need no quotes. */
const PLAIN = /^[^"'();,=!~<>\s]+$/;

/** Filters of a resource, or of the rows behind a relation. */
interface Filterable {
  readonly filters: ResourcePlan['filters'];
  readonly relations: ReadonlyMap<string, RelationFilter>;
}

/** Describes `q` in Markdown. */
export function filterDescription(plan: ResourcePlan): string {
  const examples = filterExamples(plan).map((example) => `\`${example}\``);
  const own = filterableOf(plan);
  const isToMany = [...plan.relations.filters.values()].some(({ related }) => !related.relation.isOne);
  return [
    'Filters in [RSQL](https://github.com/jirutka/rsql-parser): `;` is and, `,` is or, with parentheses. A value with',
    'blanks or any of `"\'();,=!~<>` stands in quotes. `<`, `<=`, `>` and `>=` are `=lt=`, `=le=`, `=gt=` and `=ge=`.',
    '`*` is a wildcard in `=like=` and its relatives only.',
    ...(isToMany
      ? ['`=any=(…)` has a condition that one of many records meets, `=none=(…)` one that none meets.']
      : []),
    ...notesOf(own),
    ...(examples.length > 0 ? ['', `For example ${examples.join(', ')}.`] : []),
    '',
    '| field | type | operators |',
    '| --- | --- | --- |',
    ...rowsOf(own, ''),
  ].join('\n');
}

/** Names of everything that `q` may compare: attributes, relations, and attributes of the one record behind a relation. */
export function filterNames(plan: ResourcePlan): readonly string[] {
  return namesOf(filterableOf(plan), '');
}

function namesOf({ filters, relations }: Filterable, prefix: string): readonly string[] {
  const others = [...relations].flatMap(([name, filter]) => {
    const path = `${prefix}${name}`;
    return [path, ...(filter.related.relation.isOne ? namesOf(behind(filter), `${path}.`) : [])];
  });
  return [...[...filters.keys()].map((name) => `${prefix}${name}`), ...others];
}

function filterableOf({ filters, relations }: ResourcePlan): Filterable {
  return { filters, relations: relations.filters };
}

function behind({ filters, relations }: RelationFilter): Filterable {
  return { filters, relations };
}

/** Notes of the operators of a resource, also of those behind relations. */
function notesOf(filterable: Filterable): readonly string[] {
  return FILTER_OPERATORS.flatMap((operator) =>
    [false, true].flatMap((ofRange) =>
      hasOperator(filterable, operator, ofRange) ? (operatorRow(operator, ofRange).note ?? []) : [],
    ),
  );
}

function hasOperator(
  { filters, relations }: Filterable,
  operator: CanonicalFilterOperator,
  ofRange: boolean,
): boolean {
  return (
    [...filters.values()].some(
      ({ operators, type }) => operators.includes(operator) && isRangeType(type) === ofRange,
    ) || [...relations.values()].some((filter) => hasOperator(behind(filter), operator, ofRange))
  );
}

/** @param within the place of the names, if they are not by themselves */
function rowsOf({ filters, relations }: Filterable, prefix: string, within = ''): readonly string[] {
  const own = [...filters].map(([name, { type, operators }]) =>
    tableRow(`${prefix}${name}`, within, typeName(type), operators),
  );
  const others = [...relations].flatMap(([name, filter]) => {
    const path = `${prefix}${name}`;
    const { isOne } = filter.related.relation;
    return [
      tableRow(path, within, isOne ? 'one record' : 'many records', relationOperators(isOne)),
      ...(isOne ? rowsOf(behind(filter), `${path}.`, within) : rowsOf(behind(filter), '', path)),
    ];
  });
  return [...own, ...others];
}

function tableRow(name: string, within: string, type: string, operators: readonly string[]): string {
  const place = within && ` in \`${within}=any=(…)\``;
  return `| \`${name}\`${place} | ${type} | ${operators.map((each) => `\`${each}\``).join(' ')} |`;
}

/** The texts that are filters, as far as a schema says it. */
export function filterSchema(plan: ResourcePlan): JsonSchema {
  const examples = filterExamples(plan);
  return {
    type: 'string',
    maxLength: FILTER_LIMITS.length,
    ...(examples.length > 0 ? { examples } : {}),
  };
}

/** Some filters: two of own fields, both of them together where there are two, and one for each kind of relation. */
export function filterExamples(plan: ResourcePlan): readonly string[] {
  const some = examplesOf(filterableOf(plan)).slice(0, MAX_EXAMPLES - 1);
  const relations = [...plan.relations.filters].flatMap(([name, filter]) => {
    const [example] = examplesOf(behind(filter));
    const { isOne } = filter.related.relation;
    if (example === undefined)
      return { isOne, example: isOne ? `${name}=isnull=true` : `${name}=isempty=true` };
    return { isOne, example: isOne ? `${name}.${example}` : `${name}=any=(${example})` };
  });
  const shown = [true, false].flatMap((kind) => relations.find(({ isOne }) => isOne === kind)?.example ?? []);
  return [...some, ...(some.length > 1 ? [some.join(';')] : []), ...shown];
}

function examplesOf({ filters }: Filterable): readonly string[] {
  return [...filters].flatMap(([name, filter]) => exampleOf(name, filter) ?? []);
}

function exampleOf(name: string, { type, operators }: FilterPlan): string | undefined {
  const [operator] = operators;
  const operand = operator && operandOf(operator, type);
  return operand === undefined ? undefined : `${name}${operator}${operand}`;
}

function operandOf(operator: CanonicalFilterOperator, type: ColumnType): string | undefined {
  const { takes } = operatorRow(operator, isRangeType(type));
  if (takes === 'truth') return 'false';
  if (takes === 'pattern') return '*text*';
  if (type.kind === 'range' || type.kind === 'multirange') {
    const range = JSON.stringify(exampleRange(type.bound));
    return takes === 'list' ? `(${range})` : range;
  }
  const example = exampleValue(columnSchema(comparedType(type)));
  if (example === undefined) return undefined;
  const value = PLAIN.test(String(example)) ? String(example) : JSON.stringify(String(example));
  if (takes === 'pair') return `(${value},${value})`;
  return takes === 'list' ? `(${value})` : value;
}

function typeName(type: ColumnType): string {
  if (type.kind === 'array') return `array of ${typeName(type.element)}`;
  if (type.kind === 'enum')
    return type.values.map((value) => `\`${value.replaceAll('|', '\\|')}\``).join(' ');
  if (type.kind === 'range' || type.kind === 'multirange') return `${type.kind} of ${typeName(type.bound)}`;
  return type.kind === 'network' ? type.form : type.kind;
}
