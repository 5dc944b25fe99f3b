/** What endpoints ask of the database, as the features make it. */

import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import type { ResourcePlan } from '../../../src/compile/resource-plan.js';
import type { Endpoint } from '../../../src/declare/crud-options.js';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import type { WrittenValues } from '../../../src/operation/compile-operation.js';
import type { Operation } from '../../../src/operation/operation.js';
import { createCursorCodec } from '../../../src/request/query/cursor-codec.js';
import { featuresOf } from '../../support/offline-features.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const attributes = { name: DataTypes.STRING, size: DataTypes.INTEGER };
const options = { filterAllow: ['name', 'size'], sortAllow: ['name', 'id'], pageSize: { default: 5 } };
const plan = planOf(defineModel('City', attributes), options);
const byCursor = planOf(defineModel('Town', attributes), { ...options, pagination: 'cursor' });
const soft = planOf(defineModel('Note', { name: DataTypes.STRING }, { timestamps: true, paranoid: true }), {
  filterAllow: ['name'],
});

type Made = readonly [of: ResourcePlan, endpoint: Endpoint];

function made([of, endpoint]: Made, query = '', values?: WrittenValues): Operation {
  const features = featuresOf(of)[endpoint];
  return features.operation(features.readQuery(`/x?${query}`, OPEN_ACCESS), OPEN_ACCESS, values);
}

const COLUMNS = { columns: ['id', 'name', 'size'] };
const BY_KEY = { kind: 'comparison', attribute: 'id', operator: '==', values: [{ slot: 'id' }] };
const ALIVE = { kind: 'comparison', attribute: 'deletedAt', operator: '=isnull=', values: ['true'] };
const BY_ID = [{ attribute: 'id', descending: false }];

describe('the operation of a request', () => {
  it('reads one row by its key', () => {
    expect(made([plan, 'read'])).to.deep.equal({ kind: 'read', where: BY_KEY, select: COLUMNS });
  });

  it('is the same object for every request without inputs', () => {
    for (const endpoint of ['list', 'read', 'delete'] as const) {
      const { operation, readQuery } = featuresOf(plan)[endpoint];
      const asked = ['/cities', '/cities?'].map((target) =>
        operation(readQuery(target, OPEN_ACCESS), OPEN_ACCESS),
      );
      const [first, second] = asked;
      expect(first).to.equal(second).and.to.be.frozen;
    }
  });

  it('selects the columns of the fields only', () => {
    expect(made([plan, 'read'], 'fields=size,id')).to.deep.include({ select: { columns: ['id', 'size'] } });
    expect(made([plan, 'list'], 'fields=size')).to.deep.include({ select: { columns: ['size'] } });
  });

  it('lists the first page in the default order', () => {
    expect(made([plan, 'list'])).to.deep.equal({
      kind: 'list',
      where: null,
      select: COLUMNS,
      order: BY_ID,
      window: { kind: 'offset', page: 1, size: 5 },
      count: 'exact',
    });
  });

  it('lists what is asked for, in the order that is asked for', () => {
    expect(made([plan, 'list'], 'q=size=gt=3&sort=-name&page=2&size=7')).to.deep.equal({
      kind: 'list',
      where: { kind: 'comparison', attribute: 'size', operator: '=gt=', values: ['3'] },
      select: COLUMNS,
      order: [
        { attribute: 'name', descending: true },
        { attribute: 'id', descending: true },
      ],
      window: { kind: 'offset', page: 2, size: 7 },
      count: 'exact',
    });
  });

  it('lists by cursor without a count', () => {
    const first = made([byCursor, 'list'], 'size=2');
    const window = { kind: 'keyset', after: null, before: null, size: 2 };
    expect(first).to.deep.include({ window, count: 'none' });
    const after = { values: ['7'], isInclusive: false };
    const scope = { plan: byCursor, sort: byCursor.defaultSort, digest: [null] };
    const cursor = createCursorCodec([]).encode(after, scope);
    expect(made([byCursor, 'list'], `size=2&after=${cursor}`)).to.deep.include({
      window: { ...window, after },
    });
    expect(made([byCursor, 'list'], `before=${cursor}`)).to.deep.include({
      window: { kind: 'keyset', after: null, before: after, size: 5 },
    });
  });

  it('counts as the option says, or the request', () => {
    const counted = (pagination: string, query = '') =>
      made([planOf(defineModel('Road'), { pagination, count: { cap: 7 } }), 'list'], query);
    expect(counted('offset')).to.deep.include({ count: Number.POSITIVE_INFINITY });
    expect(counted('cursor')).to.deep.include({ count: 0 });
    for (const pagination of ['offset', 'cursor']) {
      expect(counted(pagination, 'count=capped')).to.deep.include({ count: 7 });
      expect(counted(pagination, 'count=none')).to.deep.include({ count: 0 });
    }
  });

  it('writes the values of the body', () => {
    const values = { name: 'Lyon' };
    expect(made([plan, 'create'], '', values)).to.deep.equal({
      kind: 'insert',
      row: values,
      returning: COLUMNS,
    });
    expect(made([plan, 'update'], '', values)).to.deep.equal({
      kind: 'update',
      where: BY_KEY,
      set: values,
      returning: COLUMNS,
    });
    expect(made([plan, 'delete'])).to.deep.equal({ kind: 'delete', where: BY_KEY, mark: null });
  });

  it('concerns the rows that are not soft-deleted, on every endpoint but create', () => {
    const both = { kind: 'and', operands: [BY_KEY, ALIVE] };
    expect(made([soft, 'list'])).to.deep.include({ where: ALIVE });
    expect(made([soft, 'read'])).to.deep.include({ where: both });
    expect(made([soft, 'update'], '', {})).to.deep.include({ where: both });
    expect(made([soft, 'delete'])).to.deep.equal({ kind: 'delete', where: both, mark: 'deletedAt' });
    const found = { kind: 'comparison', attribute: 'name', operator: '==', values: ['a'] };
    const other = { ...found, values: ['b'] };
    const either = { kind: 'or', operands: [found, other] };
    expect(made([soft, 'list'], 'q=name==a,name==b')).to.deep.include({
      where: { kind: 'and', operands: [ALIVE, either] },
    });
  });
});
