/** The `q` parameter -> a typed filter: names from the allowlist, operators of the column, values of its type. */
import type { CanonicalFilterOperator } from '../metadata/crud-options.js';
import type { AttributeInfo, RecordInfo } from '../model/model-info.js';
import { canonicalOperator } from '../plan/filter-operators.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/did-you-mean.js';
import { FilterError } from './filter-error.js';
import { FILTER_LIMITS, type Lexeme, parseFilterSyntax, type SyntaxNode } from './filter-syntax.js';
import { compilePattern, parseFilterValue } from './filter-value.js';
import type { Comparison, Filter } from './list-query.js';
import { quote } from './query-string.js';

type ComparisonNode = Extract<SyntaxNode, { kind: 'comparison' }>;

const LIST_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set(['=in=', '=out=']);
const PAIR_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set(['=between=', '=notbetween=']);
/** Operators whose value is a pattern. */
export const PATTERN_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set([
  '=like=',
  '=notlike=',
  '=ilike=',
  '=inotlike=',
]);

/** The attributes that may be filtered by, each with its operators. */
export type FilterablePlan = Pick<ResourcePlan, 'filters'> & { readonly info: RecordInfo };

/** Parses `q`; what is wrong with it is added to `issues`. A blank filter is null. */
export function parseFilter(plan: FilterablePlan, text: string, issues: RequestIssue[]): Filter | null {
  const typing = new FilterTyping(plan, issues);
  const syntax = typing.collect(() => parseFilterSyntax(text));
  return syntax && typeFilter(plan, syntax, issues);
}

/** Gives names, operators and values the meaning that they have for a model; what is wrong is added to `issues`. */
export function typeFilter(plan: FilterablePlan, syntax: SyntaxNode, issues: RequestIssue[]): Filter | null {
  const before = issues.length;
  const filter = new FilterTyping(plan, issues).node(syntax);
  return issues.length > before ? null : filter;
}

class FilterTyping {
  readonly #uses = new Map<string, number>();

  constructor(
    private readonly plan: FilterablePlan,
    private readonly issues: RequestIssue[],
  ) {}

  node(syntax: SyntaxNode): Filter | null {
    if (syntax.kind === 'comparison') return this.collect(() => this.#comparison(syntax));
    const operands = syntax.operands.flatMap((operand) => this.node(operand) ?? []);
    return Object.freeze({ kind: syntax.kind, operands: Object.freeze(operands) });
  }

  /** One wrong comparison does not hide the next one. */
  collect<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.issues.push(error.toIssue());
      return null;
    }
  }

  #comparison(syntax: ComparisonNode): Comparison {
    const attribute = this.#attribute(syntax.selector);
    const operator = this.#operator(attribute, syntax.operator);
    checkArity(operator, syntax);
    const values = syntax.values.map((value) => parseOperand(attribute, operator, value));
    return Object.freeze({
      kind: 'comparison',
      attribute: attribute.name,
      operator,
      values: Object.freeze(values),
    });
  }

  /** The same answer for a hidden attribute as for none: only what may be filtered is ever named. */
  #attribute({ text, position }: Lexeme): AttributeInfo {
    const allowed = [...this.plan.filters.keys()];
    const attribute = this.plan.filters.has(text) ? this.plan.info.attributes.get(text) : undefined;
    if (!attribute) {
      const choices =
        allowed.length > 0 ? `Filterable: ${allowed.join(', ')}.` : 'Nothing can be filtered here.';
      throw new FilterError('q.unknown-field', position, {
        detail: `Cannot filter by ${quote(text)}.${didYouMean(text, allowed)} ${choices}`,
        allowed,
      });
    }
    const uses = (this.#uses.get(text) ?? 0) + 1;
    this.#uses.set(text, uses);
    if (uses > FILTER_LIMITS.sameAttribute) {
      throw new FilterError('q.too-complex', position, {
        detail: `At most ${FILTER_LIMITS.sameAttribute} comparisons of '${text}' are allowed.`,
      });
    }
    return attribute;
  }

  #operator({ name, type }: AttributeInfo, { text, position }: Lexeme): CanonicalFilterOperator {
    const allowed = this.plan.filters.get(name) ?? [];
    const operator = canonicalOperator(text);
    if (operator && allowed.includes(operator)) return operator;
    const code = operator ? 'q.operator-not-allowed' : 'q.unknown-operator';
    const problem = operator
      ? `'${text}' is not available for '${name}' (${type.kind}).`
      : `Unknown operator ${quote(text)}.${didYouMean(text, allowed)}`;
    throw new FilterError(code, position, { detail: `${problem} Use ${allowed.join(', ')}.`, allowed });
  }
}

function checkArity(
  operator: CanonicalFilterOperator,
  { values, operator: { text, position } }: ComparisonNode,
): void {
  if (LIST_OPERATORS.has(operator)) return;
  const isPair = PAIR_OPERATORS.has(operator);
  if (values.length === (isPair ? 2 : 1)) return;
  const detail = isPair
    ? `'${text}' takes two values: ${text}(low,high).`
    : `'${text}' takes one value; use =in=(a,b) for a list.`;
  throw new FilterError('q.arity', position, { detail });
}

function parseOperand(
  { name, type }: AttributeInfo,
  operator: CanonicalFilterOperator,
  value: Lexeme,
): string {
  if (operator === '=isnull=') return parseFilterValue({ kind: 'boolean' }, value, name);
  return PATTERN_OPERATORS.has(operator) ? compilePattern(value) : parseFilterValue(type, value, name);
}
