/** A `filter` of a rule of the application's -> a typed one, over all attributes of a model. */
import { operatorsOf, rangeMark } from '../../compile/filter-operators.js';
import { everyInclude, type ResourcePlan } from '../../compile/resource-plan.js';
import { canonicalOperator, operatorRow } from '../../declare/filter-operators.js';
import type { FilterTemplate } from '../../declare/filter-template.js';
import { type ColumnType, comparedType } from '../../describe/column-type.js';
import { isMoment, localDate, localText } from '../../describe/exact-time.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { relationNames } from '../../describe/relations.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { didYouMean } from '../../util/option-problems.js';
import { FilterError, type Lexeme, parseFilterSyntax, type SyntaxNode } from './filter-syntax.js';
import { typeFilter } from './parse-filter.js';
import type { Filter } from './predicate.js';

/** Mark of a value in the text: no text that is written by hand has it. */
const PLACEHOLDER = /\uE000(\d+)\uE001/g;

const parsed = new WeakMap<TemplateStringsArray, SyntaxNode | null>();

/**
 * The filter that a template means; null where one of its values is missing.
 *
 * @param source the rule that returned it, as the beginning of a sentence
 * @throws TypeError for a mistake in the template, without its values
 */
export function typeTemplate(
  info: RecordInfo,
  template: FilterTemplate,
  source = `visible of ${info.name}`,
): Filter | null {
  if (template.values.flat().some((value) => value === null || value === undefined)) return null;
  const syntax = fill(info, syntaxOf(template.texts, source), template, source);
  const filters = new Map(
    [...info.attributes].map(([attribute, { type }]) => [
      attribute,
      { attribute, type, compared: comparedType(type), operators: operatorsOf(type), ...rangeMark(type) },
    ]),
  );
  const issues: RequestIssue[] = [];
  const filter = typeFilter({ filters }, syntax, issues);
  if (filter) return filter;
  const told = issues.map((issue) => withoutValues(issue, syntax)).join(' ');
  throw new TypeError(`${source} gave the filter '${template.texts.join('…')}', which is wrong: ${told}`);
}

/** Codes of problems whose details hold names only: details of all others may quote a value. */
const ABOUT_NAMES: ReadonlySet<string> = new Set([
  'q.unknown-field',
  'q.unknown-operator',
  'q.operator-not-allowed',
  'q.to-many',
  'q.arity',
]);

function withoutValues({ code, detail, position }: RequestIssue, syntax: SyntaxNode): string {
  if (ABOUT_NAMES.has(code)) return detail;
  const name = comparedAt(syntax, position);
  return name === undefined
    ? `A value cannot be used (${code}).`
    : `The value for '${name}' is none that it can have (${code}).`;
}

/** The name that the value at a position is compared with. */
function comparedAt(node: SyntaxNode, position: number | undefined): string | undefined {
  if ('operands' in node)
    return node.operands.map((each) => comparedAt(each, position)).find((name) => name !== undefined);
  if (node.kind !== 'comparison') return undefined;
  return node.values.some((value) => value.position === position) ? node.selector.text : undefined;
}

const VALUE_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'bigint', 'boolean']);

/**
 * The text of a value that an attribute may have; undefined for all else. Everything has a text, and a column of texts would
 * take it: that of a promise, of a function, of NaN.
 */
export function valueText(value: unknown): string | undefined {
  if (value instanceof Date) return isMoment(value) ? value.toISOString() : undefined;
  return VALUE_TYPES.has(typeof value) && !Number.isNaN(value) ? String(value) : undefined;
}

/** The same for an attribute of a type: a number beyond 2^53 may be a rounded one, and name the row of another tenant. */
export function exactText(type: ColumnType | undefined, value: unknown): string | undefined {
  if (type?.kind === 'date' && type.zone !== undefined && value instanceof Date) {
    return isMoment(value) ? localText(value, type.zone) : undefined;
  }
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && type?.kind !== 'float';
  return isRounded ? undefined : valueText(value);
}

/** The value of a text, in the form that records have. */
export function recordValue(type: ColumnType | undefined, text: string): unknown {
  switch (type?.kind) {
    case 'integer':
    case 'float':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'date':
      return type.zone === undefined ? new Date(text) : localDate(text, type.zone);
    default:
      return text;
  }
}

/** Parsed once: the texts are the same object each time. */
function syntaxOf(texts: TemplateStringsArray, source: string): SyntaxNode {
  let syntax = parsed.get(texts);
  if (syntax === undefined) {
    syntax = readSyntax(texts, source);
    parsed.set(texts, syntax);
  }
  if (syntax === null) throw new TypeError(`${source} gave an empty filter; use EVERYTHING for all rows.`);
  return syntax;
}

function readSyntax(texts: TemplateStringsArray, source: string): SyntaxNode | null {
  try {
    return parseFilterSyntax(texts.reduce((text, next, index) => `${text}\uE000${index - 1}\uE001${next}`));
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw new TypeError(
      `${source} gave the filter '${texts.join('…')}', which cannot be read: ${error.message}`,
    );
  }
}

function fill(info: RecordInfo, node: SyntaxNode, template: FilterTemplate, source: string): SyntaxNode {
  if ('operands' in node) {
    return { ...node, operands: node.operands.map((operand) => fill(info, operand, template, source)) };
  }
  const [name = ''] = node.selector.text.split('.');
  if (node.kind !== 'comparison' || relationNames(info.model).includes(name)) {
    throw new TypeError(
      `${source} gave a filter by a relation, and a rule is about attributes of the row itself: ${template.texts.join('…')}`,
    );
  }
  const operator = canonicalOperator(node.operator.text) ?? '==';
  const isPattern = operatorRow(operator).takes === 'pattern';
  const type = info.attributes.get(node.selector.text)?.type;
  const textOf = (value: unknown): string => {
    const text = exactText(type && comparedType(type), value);
    if (text === undefined)
      throw new TypeError(`${source} gave a filter with a value that is none: ${template.texts.join('…')}`);
    return isPattern ? text.replace(/[\\*]/g, '\\$&') : text;
  };
  const values = node.values.flatMap((value) => fillValue(value, template, textOf));
  // Every array contains all of no values, so a rule about none of them would show each row.
  const isOfNone = operator === '=contains=' && values.length === 0;
  return { ...node, values, operator: isOfNone ? { ...node.operator, text: '=overlaps=' } : node.operator };
}

/** An array is a list of values; all else becomes part of the text around it. */
function fillValue(
  { text, position }: Lexeme,
  { values }: FilterTemplate,
  textOf: (value: unknown) => string,
): Lexeme[] {
  const whole = /^\uE000(\d+)\uE001$/.exec(text);
  const value = whole ? values[Number(whole[1])] : undefined;
  if (Array.isArray(value)) return value.map((each) => ({ text: textOf(each), position }));
  return [{ text: text.replace(PLACEHOLDER, (_, index) => textOf(values[Number(index)])), position }];
}

/** `filter` with a text behind it, called by its name or as compilers write an import; values hold no braces and no quotes. */
const WRITTEN = /(?:(?<![\w$.])filter|\w\.filter\)?)\s*`((?:[^`\\$]|\$(?!\{)|\$\{[^{}`]*\})*)`/g;

/** Value in the place of each `${…}` of a text: only the names of the text are checked. */
const VALUE = 'value';

/**
 * One line for each name in a written filter that is no attribute, and for each filter that cannot be read. A misspelt name in
 * the function of a rule fails every request, and a rule cannot be called before there is a request. So the start reads its text.
 * Uncertain parts of the text are left to the requests.
 */
export function writtenFilterProblems(plans: readonly ResourcePlan[]): string[] {
  const models = new Map<object, ResourcePlan>();
  const related = plans.flatMap(({ relations }) => everyInclude(relations.include));
  for (const plan of [...plans, ...related.map(({ target }) => target)]) models.set(plan.model, plan);
  const rules = [
    ...[...models.values()].map(({ name, info, access }) => ({
      info,
      rule: access?.visible,
      source: `${name}: visible`,
    })),
    ...plans.flatMap(({ name, info, access }) =>
      // The rule of an option may be that of an operation, which has the name that was written.
      [...new Map([...(access?.can ?? [])].toReversed().map(([can, rule]) => [rule, can]))].map(
        ([rule, can]) => ({ info, rule, source: `${name}: can.${can}` }),
      ),
    ),
    ...plans.flatMap(({ name, relations }) =>
      everyInclude(relations.include).map(({ path, target: { info }, where }) => ({
        info,
        rule: where,
        source: `${name}: where of include.${path}`,
      })),
    ),
  ];
  return rules.flatMap(({ info, rule, source }) =>
    writtenFilters(rule).flatMap((text) => problemsOf(info, text, source)),
  );
}

function writtenFilters(rule: unknown): string[] {
  if (typeof rule !== 'function') return [];
  return [...Function.prototype.toString.call(rule).matchAll(WRITTEN)].map(([, text = '']) => text);
}

function problemsOf({ attributes }: RecordInfo, written: string, source: string): string[] {
  const names = [...attributes.keys()];
  try {
    const syntax = parseFilterSyntax(written.replaceAll(/\$\{[^{}`]*\}/g, VALUE));
    return namesIn(syntax)
      .filter((name) => !attributes.has(name))
      .map(
        (name) =>
          `${source} names '${name}', which is not an attribute.${didYouMean(name, names)} The attributes are ${names.join(', ')}.`,
      );
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return [`${source} has the filter '${written}', which cannot be read: ${error.message}`];
  }
}

function namesIn(node: SyntaxNode | null): string[] {
  if (node === null) return [];
  if ('operands' in node) return node.operands.flatMap(namesIn);
  return [node.selector.text];
}
