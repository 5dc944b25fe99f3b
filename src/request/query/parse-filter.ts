/** The `q` parameter -> a typed filter: names from the allowlist, operators of the column, values of its type. */
import { relationOperators } from '../../compile/filter-operators.js';
import type { FilterPlan, RelatedPlan, RelationFilter } from '../../compile/resource-plan.js';
import {
  type CanonicalFilterOperator,
  canonicalOperator,
  type OperandKind,
  type OperatorRow,
  operatorRow,
} from '../../declare/filter-operators.js';
import { typeWord } from '../../describe/column-type.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { didYouMean } from '../../util/option-problems.js';
import {
  type FilterablePlan,
  FilterNames,
  join,
  type Level,
  type NamedFilter,
  type NamedRelations,
  type RelatedRows,
  type ShownAttribute,
  toFilter,
} from './filter-names.js';
import { FilterError, type Lexeme, parseFilterSyntax, type SyntaxNode } from './filter-syntax.js';
import { compilePattern, parseFilterValue, parseRangePart } from './filter-value.js';
import type { Filter } from './predicate.js';
import { quote } from './query-string.js';

type ComparisonNode = Extract<SyntaxNode, { kind: 'comparison' }>;
type QuantifiedNode = Extract<SyntaxNode, { kind: 'any' | 'none' }>;

/** Related rows of lists without relations. */
const NO_ROWS: RelatedRows = Object.freeze({ unreadable: unasked, isHidden: unasked, any: unasked });

function unasked({ relation: { parent, name } }: RelatedPlan): never {
  throw new TypeError(`Nothing has asked what may be seen of ${parent.name}.${name}.`);
}

/**
 * Parses `q`; its problems are added to `issues`. A blank filter is null.
 *
 * @param rows of the relations that `namedRelations` finds
 */
export function parseFilter(
  plan: FilterablePlan,
  text: string,
  issues: RequestIssue[],
  rows: RelatedRows = NO_ROWS,
): Filter | null {
  const typing = new FilterTyping(issues, rows);
  const syntax = typing.collect(() => parseFilterSyntax(text));
  return syntax && typeFilter(plan, syntax, issues, rows);
}

/** Types names, operators and values for a model; problems are added to `issues`. */
export function typeFilter(
  plan: FilterablePlan,
  syntax: SyntaxNode,
  issues: RequestIssue[],
  rows: RelatedRows = NO_ROWS,
): Filter | null {
  const before = issues.length;
  const filter = new FilterTyping(issues, rows).node({ ...plan, prefix: '' }, syntax);
  return issues.length > before ? null : filter && toFilter(filter, rows);
}

class FilterTyping {
  readonly #names: FilterNames;

  constructor(
    private readonly issues: RequestIssue[],
    rows: RelatedRows,
  ) {
    this.#names = new FilterNames(rows);
  }

  node(level: Level, syntax: SyntaxNode): NamedFilter | null {
    if ('operands' in syntax) {
      const operands = syntax.operands.flatMap((operand) => this.node(level, operand) ?? []);
      return join(syntax.kind, operands);
    }
    if (syntax.kind === 'comparison') return this.collect(() => this.#comparison(level, syntax));
    return this.collect(() => this.#quantified(level, syntax));
  }

  /** Collects problems: one wrong comparison does not hide the next one. */
  collect<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.issues.push(error.toIssue());
      return null;
    }
  }

  #comparison(level: Level, syntax: ComparisonNode): NamedFilter {
    const named = this.#names.find(level, syntax.selector);
    if (named.kind === 'relation') return this.#presence(named, syntax);
    const { attribute, filter, hops, name } = named;
    const operator = findOperator(filter.operators, attribute, syntax.operator);
    const { jsonType, ofRange, type } = filter;
    // An answer may show fewer digits of a moment than an equality compares.
    const isShortened =
      !jsonType && type.kind === 'date' && type.zone === undefined && operatorRow(operator).on === 'equal';
    checkArity(operatorRow(operator, ofRange), syntax);
    const values = Object.freeze(
      syntax.values.map((value) => parseOperand(attribute.name, filter, operator, value)),
    );
    const inside = {
      ...(jsonType && { jsonType }),
      ...(ofRange && { ofRange }),
      ...(isShortened && { toMilliseconds: true as const }),
    };
    return behind(hops, Object.freeze({ kind: 'comparison', attribute: name, ...inside, operator, values }));
  }

  /** `country=isnull=true`, `reviews=isempty=true`: tests of the existence of a related row. */
  #presence({ hops, last }: NamedRelations, syntax: ComparisonNode): NamedFilter {
    checkRelationOperator(last, syntax);
    checkArity(operatorRow('=isnull='), syntax);
    const [value = syntax.operator] = syntax.values;
    const isNegated = parseFilterValue({ kind: 'boolean' }, value, syntax.selector.text) === 'true';
    return behind(hops, { kind: 'related', relation: last, isNegated, condition: null });
  }

  /** `reviews=any=(…)`: the condition is about one row. Where it is wrong, so is the filter. */
  #quantified(level: Level, syntax: QuantifiedNode): NamedFilter {
    const named = this.#names.find(level, syntax.selector);
    if (named.kind === 'attribute') {
      const { filter, attribute } = named;
      throw operatorError(filter.operators, attribute, syntax.operator);
    }
    const { hops, last } = named;
    checkRelationOperator(last, syntax);
    const condition = this.node(this.#names.behind(named.level, last), syntax.condition);
    return behind(hops, { kind: 'related', relation: last, isNegated: syntax.kind === 'none', condition });
  }
}

function findOperator(
  allowed: readonly CanonicalFilterOperator[],
  attribute: ShownAttribute,
  lexeme: Lexeme,
): CanonicalFilterOperator {
  const operator = canonicalOperator(lexeme.text);
  if (operator && allowed.includes(operator)) return operator;
  throw operatorError(allowed, attribute, lexeme);
}

function operatorError(
  allowed: readonly CanonicalFilterOperator[],
  { name, type }: ShownAttribute,
  { text, position }: Lexeme,
): FilterError {
  const isKnown = canonicalOperator(text) !== undefined;
  const code = isKnown ? 'q.operator-not-allowed' : 'q.unknown-operator';
  const problem = isKnown
    ? `'${text}' is not available for '${name}' (${typeWord(type)}).`
    : `Unknown operator ${quote(text)}.${didYouMean(text === '=' ? '==' : text, allowed)}`;
  return new FilterError(code, position, `${problem} Use ${allowed.join(', ')}.`, allowed);
}

/** The operator of a condition on a relation itself. */
function checkRelationOperator(
  { related: { relation } }: RelationFilter,
  { operator: { text, position }, selector }: ComparisonNode | QuantifiedNode,
): void {
  const allowed = relationOperators(relation.isOne);
  if (allowed.includes(canonicalOperator(text) ?? text)) return;
  const told = relation.isOne ? 'one record' : 'many records';
  const detail = `${quote(text)} is not available for '${selector.text}' (${told}). Use ${allowed.join(', ')}.`;
  throw new FilterError('q.operator-not-allowed', position, detail, allowed);
}

/** A condition on the row behind some relations to one. */
function behind(hops: readonly RelationFilter[], filter: NamedFilter): NamedFilter {
  return hops.reduceRight<NamedFilter>(
    (condition, relation) => ({ kind: 'related', relation, isNegated: false, condition }),
    filter,
  );
}

function checkArity({ takes }: OperatorRow, { values, operator: { text, position } }: ComparisonNode): void {
  if (takes === 'list') return;
  const isPair = takes === 'pair';
  if (values.length === (isPair ? 2 : 1)) return;
  const detail = isPair
    ? `'${text}' takes two values: ${text}(low,high).`
    : `'${text}' takes one value; use =in=(a,b) for a list.`;
  throw new FilterError('q.arity', position, detail);
}

function parseOperand(
  name: string,
  { compared, narrower, ofRange }: FilterPlan,
  operator: CanonicalFilterOperator,
  value: Lexeme,
): string {
  const parse = PARSERS[operatorRow(operator, ofRange).takes];
  if (narrower) parse(narrower, value, name);
  return parse(compared, value, name);
}

/** An operand -> the text that the statement has. */
const PARSERS: Readonly<Record<OperandKind, typeof parseFilterValue>> = {
  value: parseFilterValue,
  pair: parseFilterValue,
  list: parseFilterValue,
  pattern: (_, value) => compilePattern(value),
  truth: (_, value, name) => parseFilterValue({ kind: 'boolean' }, value, name),
  part: parseRangePart,
  network: (_, value, name) => parseFilterValue({ kind: 'network', form: 'inet' }, value, name),
};
