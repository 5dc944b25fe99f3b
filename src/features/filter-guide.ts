/** What `q` accepts on a resource, for people: a table of fields and operators, and examples that work. */
import type { CanonicalFilterOperator } from '../metadata/crud-options.js';
import type { ColumnType } from '../model/column-type.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import { FILTER_LIMITS } from '../query/filter-syntax.js';
import { columnSchema } from '../schema/body-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { exampleValue } from './example-value.js';

/** The operators that are shown first, because they are asked for most. */
const SHOWN_FIRST: readonly CanonicalFilterOperator[] = [
  '==',
  '=ge=',
  '=like=',
  '=ilike=',
  '=in=',
  '=between=',
];
const MAX_EXAMPLES = 3;
/** What RSQL reserves; other values need no quotes. */
const PLAIN = /^[^"'();,=!~<>\s]+$/;

/** What `q` is, in Markdown. */
export function filterDescription(plan: ResourcePlan): string {
  const examples = filterExamples(plan).map((example) => `\`${example}\``);
  const rows = [...plan.filters].map(
    ([name, operators]) =>
      `| \`${name}\` | ${typeName(plan, name)} | ${operators.map((each) => `\`${each}\``).join(' ')} |`,
  );
  return [
    'Filters in [RSQL](https://github.com/jirutka/rsql-parser): `;` is and, `,` is or, with parentheses. A value with',
    'blanks or any of `"\'();,=!~<>` stands in quotes. `<`, `<=`, `>` and `>=` are `=lt=`, `=le=`, `=gt=` and `=ge=`.',
    '`*` is a wildcard in `=like=` and its relatives only.',
    '',
    '| field | type | operators |',
    '| --- | --- | --- |',
    ...rows,
    ...(examples.length > 0 ? ['', `For example ${examples.join(', ')}.`] : []),
  ].join('\n');
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

/** Some filters, the last of them of two comparisons where there are two fields. */
export function filterExamples(plan: ResourcePlan): readonly string[] {
  const single = [...plan.filters].flatMap(([name, operators]) => exampleOf(plan, name, operators) ?? []);
  const some = single.slice(0, MAX_EXAMPLES - 1);
  return some.length > 1 ? [...some, some.join(';')] : some;
}

function exampleOf(
  { info }: ResourcePlan,
  name: string,
  operators: readonly CanonicalFilterOperator[],
): string | undefined {
  const operator = SHOWN_FIRST.find((each) => operators.includes(each)) ?? operators[0];
  const type = info.attributes.get(name)?.type;
  const operand = operator && type && operandOf(operator, type);
  return operand === undefined ? undefined : `${name}${operator}${operand}`;
}

function operandOf(operator: CanonicalFilterOperator, type: ColumnType): string | undefined {
  if (operator === '=isnull=') return 'false';
  const example = exampleValue(columnSchema(type));
  if (example === undefined) return undefined;
  const value = PLAIN.test(String(example)) ? String(example) : JSON.stringify(String(example));
  switch (operator) {
    case '=in=':
    case '=out=':
      return `(${value})`;
    case '=between=':
    case '=notbetween=':
      return `(${value},${value})`;
    case '=like=':
    case '=notlike=':
    case '=ilike=':
    case '=inotlike=':
      return '*text*';
    default:
      return value;
  }
}

function typeName({ info }: ResourcePlan, name: string): string {
  const type = info.attributes.get(name)?.type;
  if (type?.kind === 'enum')
    return type.values.map((value) => `\`${value.replaceAll('|', '\\|')}\``).join(' ');
  return type?.kind ?? '';
}
