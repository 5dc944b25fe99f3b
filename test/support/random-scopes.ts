/** Random models of one table, random rules for them, and what both mean, computed in memory. */
import type { Request } from 'express';
import fc from 'fast-check';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, EVERYTHING, type FilterTemplate, filter, type ModelClass } from '../../src/index.js';
import { KeyedRow } from '../models/rows.js';
import {
  COMPARABLE,
  COMPARATORS,
  expressionOver,
  isListOperator,
  KINDS,
  NAMES,
  PATTERN,
  print,
  ROWS,
} from './filter-arbitrary.js';
import { type Expression, evaluate, type TextRow } from './filter-oracle.js';

type Name = (typeof NAMES)[number];
type Comparable = (typeof COMPARABLE)[number];

const isComparable = (name: Name): name is Comparable => COMPARABLE.includes(name as Comparable);

/** What a random model has. */
interface Shape {
  readonly seed: number;
  readonly prefix: string;
  readonly names: readonly Name[];
  readonly scoped: readonly Comparable[];
  readonly paranoid: boolean;
  readonly pagination: 'offset' | 'cursor';
}

/** What the rules of a request say: the texts that a scoped attribute may have; null is everything. */
interface Rules {
  readonly scope: Readonly<Record<string, string | readonly string[] | null>>;
  readonly visible: Expression | null;
  readonly isLate: boolean;
}

/** A list that is asked for, and a row, under rules. */
export interface Question extends Rules {
  readonly shape: Shape;
  readonly q: Expression | null;
  readonly sort: readonly string[];
  readonly size: number;
  readonly id: number;
}

const SEED = Date.now() % 2 ** 31;
export const isDeleted = (id: number) => id % 7 === 3;

const shapeArbitrary = fc
  .uniqueArray(fc.constantFrom(...NAMES), { minLength: 5, maxLength: 9, size: 'max' })
  .filter((names) => names.filter(isComparable).length >= 3)
  .chain((names) =>
    fc.record({
      seed: fc.constant(SEED),
      prefix: fc.constant(''),
      names: fc.constant(names),
      scoped: fc.subarray(names.filter(isComparable), { minLength: 1, maxLength: 3 }),
      paranoid: fc.boolean(),
      pagination: fc.constantFrom('offset' as const, 'cursor' as const),
    }),
  );
const SHAPES: readonly Shape[] = fc
  .sample(shapeArbitrary, { numRuns: 8, seed: SEED })
  .map((shape, index) => ({ ...shape, prefix: `/samples-${index}` }));

/** The rules of requests, by what they have in a header. */
export const asked = new Map<string, Rules>();
const rulesOf = (request: Request) => asked.get(request.get('rules') ?? '') as Rules;

@Table({ tableName: 'samples', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
export class Whole extends KeyedRow {}
for (const name of NAMES) Column({ type: KINDS[name].type, field: `the ${name}` })(Whole.prototype, name);

export const MODELS = SHAPES.map(modelOf);

function modelOf({ prefix, names, scoped, paranoid, pagination }: Shape): ModelClass {
  class Sample extends Model {
    @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  }
  Object.defineProperty(Sample, 'name', { value: `Sample${prefix.slice(-1)}` });
  for (const name of names) Column({ type: KINDS[name].type, field: `the ${name}` })(Sample.prototype, name);
  Table({ tableName: 'samples', timestamps: paranoid, createdAt: false, updatedAt: false, paranoid })(Sample);
  const late = <T>(request: Request, answer: T) =>
    rulesOf(request).isLate ? Promise.resolve(answer) : answer;
  Crud({
    prefix,
    pagination,
    filterAllow: ['id', ...names] as never,
    sortAllow: ['id', ...names.filter(isComparable)] as never,
    scope: Object.fromEntries(
      scoped.map((name) => [name, (request: Request) => late(request, answerOf(rulesOf(request), name))]),
    ),
    visible: (request) => {
      const { visible } = rulesOf(request);
      return late(request, visible === null ? EVERYTHING : templateOf(visible));
    },
  })(Sample);
  return Sample as ModelClass;
}

/** As an application has the values: numbers as numbers. */
function answerOf({ scope }: Rules, name: Name): never {
  const texts = scope[name] ?? null;
  const native = (text: string) => {
    if (name === 'whole' || name === 'ratio') return Number(text);
    if (name === 'big') return BigInt(text);
    return name === 'flag' ? text === 'true' : text;
  };
  if (texts === null) return EVERYTHING as never;
  return (typeof texts === 'string' ? native(texts) : texts.map(native)) as never;
}

/** A piece of a template: its text, or a value in it. */
type Piece = string | { readonly value: string | readonly string[] };

/** The condition, with its values apart from it. */
function templateOf(expression: Expression): FilterTemplate {
  const texts = [''];
  const values: (string | readonly string[])[] = [];
  for (const piece of piecesOf(expression)) {
    if (typeof piece === 'string') texts.push(`${texts.pop()}${piece}`);
    else {
      values.push(piece.value);
      texts.push('');
    }
  }
  return filter(Object.assign(texts, { raw: texts }), ...values);
}

function piecesOf(node: Expression): readonly Piece[] {
  if (node.kind !== 'comparison') {
    const between = node.kind === 'and' ? ';' : ',';
    return [
      '(',
      ...node.operands.flatMap((each, index) => [index > 0 ? between : '', ...piecesOf(each)]),
      ')',
    ];
  }
  const { attribute, operator, values } = node;
  const [value = '', second = ''] = values;
  // A value is no pattern: stars of a pattern stand in the text.
  if (PATTERN.includes(operator)) return [print(node)];
  if (operator.endsWith('between='))
    return [`${attribute}${operator}(`, { value }, ',', { value: second }, ')'];
  return [`${attribute}${operator}`, { value: isListOperator(operator) ? values : value }];
}

/** The limits of filters have tests of their own. */
const isShort = (expression: Expression) =>
  print(expression).length <= 2048 &&
  NAMES.every(
    (name) => print(expression).split(`${name}=`).length + print(expression).split(`${name}!`).length <= 12,
  );

export const questionArbitrary: fc.Arbitrary<Question> = fc.constantFrom(...SHAPES).chain((shape) => {
  const textFor = (name: Comparable) => fc.constantFrom<string>(...KINDS[name].values);
  const texts = (name: Comparable) => fc.array(textFor(name), { maxLength: 5, size: 'max' });
  // Most scopes have a row: the values of one of them are among those that are allowed.
  const answerFor = (name: Comparable, row: TextRow) => {
    const text = KINDS[name].values.find((each) => each === row[name]);
    const own = text === undefined ? fc.constant(null) : fc.constant(text);
    return fc.oneof(
      { arbitrary: own, weight: 4 },
      { arbitrary: texts(name).map((each) => (text === undefined ? each : [...each, text])), weight: 4 },
      { arbitrary: fc.oneof(textFor(name), texts(name)), weight: 1 },
      { arbitrary: fc.constant(null), weight: 2 },
    );
  };
  const condition = fc.option(expressionOver(shape.names).filter(isShort), { freq: 2 });
  const term = fc
    .constantFrom('id', ...shape.names.filter(isComparable))
    .chain((name) => fc.constantFrom(name, `-${name}`));
  return fc.record({
    shape: fc.constant(shape),
    scope: fc
      .constantFrom(...ROWS)
      .chain((row) =>
        fc.record(Object.fromEntries(shape.scoped.map((name) => [name, answerFor(name, row)]))),
      ),
    visible: condition,
    isLate: fc.boolean(),
    q: condition,
    sort: fc.uniqueArray(term, { maxLength: 3, selector: (name) => name.replace('-', '') }),
    size: fc.integer({ min: 9, max: 90 }),
    id: fc.integer({ min: 0, max: ROWS.length }),
  });
});

/** What the rules and the filter let through. */
export function expected({ shape, scope, visible, q }: Question): number[] {
  return [...ROWS.keys()].filter((id) => {
    const row = ROWS[id] ?? {};
    const inScope = Object.entries(scope).every(([name, texts]) => {
      const value = row[name] ?? null;
      if (texts === null) return true;
      return value !== null && [texts].flat().some((text) => COMPARATORS[name]?.(value, text) === 0);
    });
    const holds = (each: Expression | null) => each === null || evaluate(each, row, COMPARATORS) === true;
    return inScope && holds(visible) && holds(q) && !(shape.paranoid && isDeleted(id));
  });
}
