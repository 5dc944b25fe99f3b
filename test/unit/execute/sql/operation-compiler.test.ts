/** The text of statements, their values, and the texts that they share. Tests with PostgreSQL check their results. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DataTypes } from 'sequelize';
import { JSON_TYPES } from '../../../../src/declare/crud-options.js';
import { arrayLiteral } from '../../../../src/execute/sql/encode-parameter.js';
import { liftValues } from '../../../../src/execute/sql/lift-values.js';
import { OperationCompiler } from '../../../../src/execute/sql/operation-compiler.js';
import { columnsOf, compilePredicate } from '../../../../src/execute/sql/predicate-sql.js';
import { bindSlots, fillSlots, toStatement } from '../../../../src/execute/sql/statement.js';
import { setIndexes } from '../../../../src/execute/sql/table-indexes.js';
import { aliveRows } from '../../../../src/features/soft-delete/deletion.js';
import { allOf, equalTo } from '../../../../src/operation/predicates.js';
import type { Predicate, Slot, Value } from '../../../../src/request/query/predicate.js';
import { defineModel, infoOf } from '../../../support/offline-models.js';

const info = infoOf(
  defineModel(
    'Note',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      text: { type: DataTypes.TEXT, allowNull: false, field: 'body' },
      stars: DataTypes.INTEGER,
    },
    { timestamps: true, paranoid: true, tableName: 'notes' },
  ),
);
const ID: Slot = { slot: 'id' };
const where = allOf(equalTo('id', ID), aliveRows(info));
const select = Object.freeze({ columns: ['id', 'text'] });

describe('OperationCompiler', () => {
  const compiler = new OperationCompiler(info);

  it('keeps a limited number of the shapes that clients choose', () => {
    const read = (name: string) =>
      compiler.read({ kind: 'read', where: equalTo('id', { slot: name }), select });
    const first = read('first');
    expect(read('first')).to.equal(first);
    for (let index = 0; index < 1000; index += 1) read(`slot ${index}`);
    expect(read('first')).not.to.equal(first);
    expect(read('first')).to.deep.equal(first);
  });

  it('refuses an attribute that the model does not have', () => {
    const read = (predicate: Predicate, columns: string[]) => () =>
      compiler.read({ kind: 'read', where: predicate, select: { columns } });
    expect(read(where, ['lost'])).to.throw(TypeError, "Note has no attribute 'lost'.");
    expect(read(equalTo('lost', '1'), ['id'])).to.throw(TypeError, "Note has no attribute 'lost'.");
  });

  it('refuses to run with a slot that is empty', () =>
    expect(() => fillSlots(compiler.read({ kind: 'read', where, select }), {})).to.throw(
      TypeError,
      "The slot 'id' has no value.",
    ));
});

const OPERATORS = ['==', '!=', '=lt=', '=ge=', '=like=', '=inotlike='] as const;
const SLOTS = { id: 'the id', 'scope.owner': 'the owner' };
/** A value that no text of a statement may contain. */
const boundValue = fc.string().map((text) => `~${text}~`);
const value: fc.Arbitrary<Value> = fc.oneof(
  boundValue,
  fc.constantFrom(...Object.keys(SLOTS).map((slot) => ({ slot }))),
);
const attribute = fc.constantFrom('id', 'text', 'stars');
const comparison = fc.oneof(
  fc.record({
    kind: fc.constant('comparison' as const),
    attribute,
    operator: fc.constantFrom(...OPERATORS),
    values: fc.tuple(value),
  }),
  fc.record({
    kind: fc.constant('comparison' as const),
    attribute,
    operator: fc.constantFrom('=between=', '=notbetween='),
    values: fc.tuple(value, value),
  }),
  fc.record({
    kind: fc.constant('comparison' as const),
    attribute,
    operator: fc.constantFrom('=in=', '=out=', '=contains=', '=overlaps='),
    values: fc.oneof(fc.array(boundValue, { minLength: 1 }), fc.constant([ID])),
  }),
  fc.record({
    kind: fc.constant('comparison' as const),
    attribute,
    operator: fc.constantFrom('=isnull=', '=isempty='),
    values: fc.tuple(fc.constantFrom('true', 'false')),
  }),
  fc.record({
    kind: fc.constant('comparison' as const),
    attribute: fc.constantFrom('text.a', 'text.a.b'),
    jsonType: fc.constantFrom(...JSON_TYPES),
    operator: fc.constantFrom('==', '=ge='),
    values: fc.tuple(value),
  }),
);
const { predicate } = fc.letrec<
  Record<'predicate' | 'junction' | 'comparison' | 'exists' | 'fragment', Predicate>
>((tie) => ({
  comparison,
  junction: fc.record({
    kind: fc.constantFrom('and', 'or'),
    operands: fc.array(tie('predicate'), { minLength: 1, maxLength: 3 }),
  }),
  exists: fc.record({
    kind: fc.constant('exists' as const),
    target: fc.constant(info),
    key: fc.constantFrom('id', 'text'),
    value,
    where: tie('predicate'),
  }),
  fragment: fc.record({
    kind: fc.constant('sql' as const),
    texts: fc.constantFrom(['', ' = ', ''], ['lower(', ') LIKE ', '']),
    parts: fc.tuple(fc.record({ attribute }), value),
  }),
  predicate: fc.oneof({ maxDepth: 3 }, tie('comparison'), tie('junction'), tie('exists'), tie('fragment')),
}));

describe('the plan of a list', () => {
  const compiler = new OperationCompiler(info);
  const select = { columns: ['id'] };
  const slot = { slot: 'scope.Note.stars' };
  const isPlanned = (where: Predicate | null, descending = false): boolean =>
    compiler.isPlanned(
      compiler.list({ select, order: [{ attribute: 'id', descending }] }),
      compiler.lift(where),
    );

  it('depends on values, unless an index begins with the columns of slots and goes on with the order', () => {
    const scoped = equalTo('stars', slot);
    expect(isPlanned(null)).to.equal(false);
    expect(isPlanned(equalTo('stars', '3'))).to.equal(true);
    expect(isPlanned(scoped), 'as long as no index is known').to.equal(true);
    const keys = (...columns: string[]) => [
      { method: 'btree', keys: columns.map((column) => ({ column, descending: false })) },
    ];
    setIndexes(info.model, keys('id', 'stars'));
    expect(isPlanned(scoped)).to.equal(true);
    setIndexes(info.model, keys('stars', 'id'));
    expect(isPlanned(scoped)).to.equal(false);
    expect(isPlanned(scoped, true)).to.equal(false);
    expect(isPlanned(allOf(scoped, equalTo('id', '5')))).to.equal(true);
    const ranged: Predicate = { kind: 'comparison', attribute: 'stars', operator: '=gt=', values: [slot] };
    expect(isPlanned(ranged)).to.equal(true);
    expect(isPlanned({ kind: 'or', operands: [scoped, scoped] })).to.equal(true);
  });
});

describe('liftValues', () => {
  const column = columnsOf(info, 'Note');
  const lift = (each: Predicate) => {
    const lifted = liftValues(each);
    return { ...lifted, statement: toStatement(compilePredicate(lifted.predicate as Predicate, column)) };
  };

  it('leaves no value in the text, and none out of the parameters', () =>
    fc.assert(
      fc.property(predicate, (each) => {
        const { statement, bound } = lift(each);
        const own = toStatement(compilePredicate(each, column));
        expect(statement.text).to.equal(own.text).and.not.to.include('~');
        expect(fillSlots(bindSlots(statement, bound ?? {}), SLOTS)).to.deep.equal(fillSlots(own, SLOTS));
        expect(statement.values.filter((each) => typeof each === 'string')).to.deep.equal([]);
        expect(statement.text.match(/\$\d+/g) ?? []).to.deep.equal(
          statement.values.map((_, index) => `$${index + 1}`),
        );
      }),
    ));

  it('gives predicates that differ in bound values one shape', () => {
    const replaced = (one: Predicate, next: () => string): Predicate => {
      if (one.kind === 'exists') {
        const value = typeof one.value === 'string' ? next() : one.value;
        return { ...one, value, where: one.where && replaced(one.where, next) };
      }
      if (one.kind === 'written') return one;
      if (one.kind === 'sql') {
        return { ...one, parts: one.parts.map((part) => (typeof part === 'string' ? next() : part)) };
      }
      if (one.kind !== 'comparison') {
        return { ...one, operands: one.operands.map((each) => replaced(each, next)) };
      }
      if (one.operator === '=isnull=' || one.operator === '=isempty=') return one;
      return { ...one, values: one.values.map((each) => (typeof each === 'string' ? next() : each)) };
    };
    fc.assert(
      fc.property(predicate, fc.infiniteStream(boundValue), (each, values) => {
        const other = replaced(each, () => values.next().value);
        expect(lift(other).shape).to.equal(lift(each).shape);
      }),
    );
  });

  it('gives predicates with different texts or slots different shapes', () => {
    const small = fc.letrec<{ predicate: Predicate; junction: Predicate; comparison: Predicate }>((tie) => ({
      comparison: fc
        .tuple(
          fc.constantFrom('id', 'text'),
          fc.constantFrom('1', '2', ID),
          fc.constantFrom(null, ...JSON_TYPES),
        )
        .map(([name, own, jsonType]) =>
          jsonType ? { ...equalTo(`${name}.a`, own), jsonType } : equalTo(name, own),
        ),
      junction: fc.record({
        kind: fc.constantFrom('and', 'or'),
        operands: fc.array(tie('predicate'), { minLength: 1, maxLength: 2 }),
      }),
      predicate: fc.oneof({ maxDepth: 2 }, tie('comparison'), tie('junction')),
    })).predicate;
    fc.assert(
      fc.property(fc.array(small, { minLength: 20, maxLength: 40 }), (all) => {
        const shapes = new Map<string, object>();
        for (const { shape, statement } of all.map(lift)) {
          expect(shapes.get(shape) ?? statement).to.deep.equal(statement);
          shapes.set(shape, statement);
        }
      }),
    );
  });

  it('keeps shapes of attributes with odd names apart', () => {
    const odd = (...names: string[]): Predicate => ({
      kind: 'or',
      operands: names.map((name) => equalTo(name, '1')),
    });
    const shapes = [odd('a', 'b'), odd('a==?b'), odd('and(a', ')b'), allOf(odd('a'), odd('b')), odd('a')];
    expect(new Set(shapes.map((each) => liftValues(each).shape))).to.have.property('size', shapes.length);
  });

  it('takes the values of a list as one', () => {
    const inList = (...values: Value[]): Predicate => ({
      kind: 'comparison',
      attribute: 'id',
      operator: '=in=',
      values,
    });
    expect(lift(inList('1', '2')).shape).to.equal(lift(inList('3')).shape);
    expect(lift(inList('1', '2')).bound).to.deep.equal({ 'bound.0': arrayLiteral(['1', '2']) });
    expect(() => lift(inList('1', ID))).to.throw(
      TypeError,
      "The slot 'id' stands where only a bound value can.",
    );
  });
});
