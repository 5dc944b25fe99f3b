/** Random filters over the relations that the options of random models allow, and their texts. */
import fc from 'fast-check';
import { type AnyFilters, type AnyModel, isOne, relationOf } from './any-model.js';
import { printComparison, valuesFor } from './filter-arbitrary.js';
import type { Expression } from './filter-oracle.js';

type Comparison = Extract<Expression, { kind: 'comparison' }>;

/** A filter. The name of a comparison may be a path to an attribute, or to a relation: `country.region`. */
export type AnyFilter =
  | {
      readonly kind: 'and' | 'or';
      readonly operands: readonly AnyFilter[];
      /** True where it has no parentheses where it means the same without. */
      readonly isBare: boolean;
    }
  | Comparison
  | {
      readonly kind: 'any' | 'none';
      readonly relation: string;
      readonly condition: AnyFilter;
    };

/** Limits have tests of their own. */
const LIMITS = { length: 600, relations: 5, depth: 8, perName: 10 };

const JUNCTION = fc.constantFrom('and' as const, 'or' as const);
const QUANTIFIER = fc.constantFrom('any' as const, 'none' as const);

/** A filter that an option of the model allows. */
export function filterOver(model: AnyModel): fc.Arbitrary<AnyFilter> {
  return tree(model, model.filters, true).filter(isWithinLimits);
}

/** A few of the comparisons, so that some of them are about the same relation. */
function tree(model: AnyModel, filters: AnyFilters, isRoot: boolean): fc.Arbitrary<AnyFilter> {
  const some = comparisons(model, filters, '');
  const all = isRoot ? [...some, ...conditions(model, filters), ...severalOf(model, filters)] : some;
  return fc.subarray(all, { minLength: 1, maxLength: Math.min(3, all.length) }).chain((leaves) => {
    const { node } = fc.letrec<{ node: AnyFilter }>((tie) => ({
      node: fc.oneof(
        { maxDepth: isRoot ? 3 : 2, depthSize: 'small', withCrossShrink: true },
        fc.oneof(...leaves),
        fc.record({
          kind: JUNCTION,
          operands: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
          isBare: fc.boolean(),
        }),
      ),
    }));
    return node;
  });
}

/** Comparisons of attributes, and of those behind relations to one record. */
function comparisons(
  model: AnyModel,
  { names, relations }: AnyFilters,
  before: string,
): fc.Arbitrary<Comparison>[] {
  const found = names.map((name) => comparison(model, name, before));
  for (const [name, behind] of relations) {
    const relation = relationOf(model, name);
    const path = `${before}${name}`;
    found.push(presence(path, isOne(relation)));
    if (isOne(relation)) found.push(...comparisons(relation.target, behind, `${path}.`));
  }
  return found;
}

function comparison({ attributes, rows }: AnyModel, name: string, before: string): fc.Arbitrary<Comparison> {
  const kind = attributes.find((each) => each.name === name)?.kind;
  if (!kind) throw new Error(`There is no ${name}.`);
  // Most others find nothing.
  const there = rows.map((row) => row[name]).filter((value) => value != null);
  const values = [...kind.values, ...there, ...there];
  return fc.constantFrom(...kind.operators).chain((operator) =>
    valuesFor({ ...kind, values }, operator).map((operands) => ({
      kind: 'comparison',
      attribute: `${before}${name}`,
      operator,
      values: operands,
    })),
  );
}

function presence(attribute: string, isToOne: boolean): fc.Arbitrary<Comparison> {
  const operator = isToOne ? '=isnull=' : '=isempty=';
  return fc
    .constantFrom('true', 'false')
    .map((value) => ({ kind: 'comparison', attribute, operator, values: [value] }));
}

/** Conditions on one row of many, or none. */
function conditions(model: AnyModel, { relations }: AnyFilters): fc.Arbitrary<AnyFilter>[] {
  return [...relations].flatMap(([relation, behind]) => {
    const found = relationOf(model, relation);
    if (isOne(found) || comparisons(found.target, behind, '').length === 0) return [];
    return fc.record({
      kind: QUANTIFIER,
      relation: fc.constant(relation),
      condition: tree(found.target, behind, false),
    });
  });
}

/** Several conditions on the same relation, which may be about different rows. */
function severalOf(model: AnyModel, filters: AnyFilters): fc.Arbitrary<AnyFilter>[] {
  return [...filters.relations].map(([relation, behind]) => {
    const { target, ...found } = relationOf(model, relation);
    const within = comparisons(target, behind, isOne(found) ? `${relation}.` : '');
    const each = isOne(found)
      ? within
      : within.map((condition) =>
          fc.record({ kind: QUANTIFIER, relation: fc.constant(relation), condition }),
        );
    return fc.record({
      kind: JUNCTION,
      operands: fc.array(fc.oneof(...each, presence(relation, isOne(found))), { minLength: 2, maxLength: 3 }),
      isBare: fc.boolean(),
    });
  });
}

/** A filter as a client writes it. @param around the kind of the filter that it is an operand of */
export function printFilter(node: AnyFilter, around?: 'and' | 'or'): string {
  if (node.kind === 'comparison') return printComparison(node);
  if ('condition' in node) return `${node.relation}=${node.kind}=(${printFilter(node.condition)})`;
  const { kind, operands, isBare } = node;
  const text = operands.map((each) => printFilter(each, kind)).join(kind === 'and' ? ';' : ',');
  return isBare && !(kind === 'or' && around === 'and') ? text : `(${text})`;
}

function isWithinLimits(filter: AnyFilter): boolean {
  const uses = new Map<string, number>();
  let relations = 0;
  const depthOf = (node: AnyFilter, before: string): number => {
    if ('operands' in node) return 1 + Math.max(...node.operands.map((each) => depthOf(each, before)));
    if ('condition' in node) {
      relations += 1;
      return 1 + depthOf(node.condition, `${before}${node.relation}.`);
    }
    const path = `${before}${node.attribute}`;
    uses.set(path, (uses.get(path) ?? 0) + 1);
    const isPresence = /(^|\.)r\d+$/.test(path);
    if (isPresence || node.attribute.includes('.')) relations += 1;
    return 0;
  };
  const depth = depthOf(filter, '');
  return (
    depth <= LIMITS.depth &&
    relations <= LIMITS.relations &&
    [...uses.values()].every((count) => count <= LIMITS.perName) &&
    printFilter(filter).length <= LIMITS.length
  );
}
