/** What inputs and rules make of requests, below what each feature does. */
import { expect } from 'chai';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import type { RelatedPlan } from '../../../src/compile/resource-plan.js';
import { type Access, type AccessForm, OPEN_ACCESS } from '../../../src/operation/access.js';
import { NOTHING_ASKED, type ResourceFeatures } from '../../../src/operation/compile-features.js';
import type { Reference } from '../../../src/operation/operation.js';
import { equalTo } from '../../../src/operation/predicates.js';
import { compileAlso } from '../../../src/operation/selection.js';
import type { Comparison, Predicate, Value } from '../../../src/request/query/predicate.js';
import { InvalidQueryError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { featuresOf } from '../../support/offline-features.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const attributes = { name: DataTypes.STRING, size: DataTypes.INTEGER };
const options = { filterAllow: ['name', 'size'], sortAllow: ['name'], can: { deleted: () => true } };
const soft = defineModel('Note', attributes, { timestamps: true, paranoid: true, version: true });
const plan = planOf(soft, options);
let features: ResourceFeatures;
const DELETED_ALLOWED = { ...NOTHING_ASKED, allowed: new Set(['deleted'] as const) };

/** A request with these headers. */
function sending(headers: Readonly<Record<string, string>>): Request {
  return { get: (name: string) => headers[name.toLowerCase()] } as unknown as Request;
}

async function wrong(work: () => unknown): Promise<readonly string[]> {
  const error = await caughtError(work);
  if (!(error instanceof InvalidQueryError)) throw error;
  return error.errors.map(({ code, ...issue }) => `${'parameter' in issue && issue.parameter}: ${code}`);
}

/** The access of a request that sees these rows. */
function seeing(where: Predicate | null, form: AccessForm = OPEN_ACCESS.form): Access {
  return { ...OPEN_ACCESS, form, where };
}

const sizeIn = (...values: readonly string[]): Comparison<Value> => {
  return { kind: 'comparison', attribute: 'size', operator: '=in=', values };
};

/** Anew for each test. */
function makeFeatures(): void {
  features = featuresOf(plan);
}

describe('the inputs of a request', () => {
  beforeEach(makeFeatures);

  it('are all read, and what is wrong with any is told at once', async () => {
    const { filter, sort, size } = features.list.readQuery('/notes?size=3&q=name==a&sort=-name', OPEN_ACCESS);
    expect(filter).to.deep.include({ attribute: 'name', values: ['a'] });
    expect(sort?.[0]).to.deep.equal({ attribute: 'name', descending: true });
    expect(size).to.equal(3);
    expect(
      await wrong(() => features.list.readQuery('/notes?size=x&sort=y&z=1&q=name', OPEN_ACCESS)),
    ).to.have.members(['size: range', 'sort: sort.unknown-field', 'z: unknown', 'q: q.syntax']);
  });

  it('with a rule are unknown where it does not allow them', async () => {
    const target = '/notes?deleted=only';
    expect(await wrong(() => features.list.readQuery(target, OPEN_ACCESS))).to.deep.equal([
      'deleted: unknown',
    ]);
    expect(features.list.readQuery(target, OPEN_ACCESS, [], DELETED_ALLOWED).deleted).to.equal('only');
    expect(features.list.readQuery('/notes?size=3', OPEN_ACCESS, [], DELETED_ALLOWED).size).to.equal(3);
    const other = { ...NOTHING_ASKED, allowed: new Set(['list'] as const) };
    expect(await wrong(() => features.list.readQuery(target, OPEN_ACCESS, [], other))).to.deep.equal([
      'deleted: unknown',
    ]);
  });

  it('may stand beside those that other code reads, which are told, too', async () => {
    expect(features.list.readQuery('/notes?own=%ff&own=2&size=3', OPEN_ACCESS, ['own']).size).to.equal(3);
    const error = await caughtError(() => features.list.readQuery('/notes?x=1', OPEN_ACCESS, ['own']));
    expect((error as InvalidQueryError).message).to.match(/It accepts .*, own\.$/);
    expect(await wrong(() => features.list.readQuery('/notes?%ff', OPEN_ACCESS))).to.deep.equal([
      '%ff: encoding',
    ]);
  });

  it('of headers are no parameters', async () => {
    const read = () => features.update.readQuery('/notes/1?If-Match=7', OPEN_ACCESS);
    expect(await wrong(read)).to.deep.equal(['If-Match: unknown']);
  });

  it('of headers are read where one is given', async () => {
    const absent = features.update.absentFor(OPEN_ACCESS.form);
    expect(features.update.readHeaders(sending({}), absent, OPEN_ACCESS)).to.equal(absent);
    expect(
      features.update.readHeaders(sending({ 'if-match': '"7"' }), absent, OPEN_ACCESS).ifMatch,
    ).to.deep.equal(['7']);
    expect(
      await caughtError(() => features.update.readHeaders(sending({ 'if-match': '7' }), absent, OPEN_ACCESS)),
    ).to.have.property('status', 400);
    const [needing] = [planOf(soft, { ...options, ifMatch: 'required' })].map(featuresOf);
    expect(
      await caughtError(() => needing?.update.readHeaders(sending({}), absent, OPEN_ACCESS)),
    ).to.have.property('status', 428);
  });

  it('need what was asked of the relations that they name', () => {
    const relation = { relation: { parent: soft, name: 'author' } } as unknown as RelatedPlan;
    expect(() => NOTHING_ASKED.related(relation)).to.throw(
      TypeError,
      'Nothing has asked what the request may see of Note.author.',
    );
  });
});

describe('the operation of a request with rules', () => {
  beforeEach(makeFeatures);

  it('has the rows that this request sees, and none of the one before', () => {
    for (const endpoint of [features.list, features.delete]) {
      const inputs = endpoint.absentFor(OPEN_ACCESS.form);
      const made = [sizeIn('1'), sizeIn('2'), null].map((where) =>
        JSON.stringify(endpoint.operation(inputs, seeing(where))),
      );
      expect(made[0]).to.include('["1"]').and.not.to.include('["2"]');
      expect(made[1]).to.include('["2"]').and.not.to.include('["1"]');
      expect(made[2]).not.to.include('=in=');
    }
  });

  it('is made once for all requests with the same rules', () => {
    const where = equalTo('size', { slot: 'size' });
    const form = { ...OPEN_ACCESS.form, where };
    const [one, two] = [1, 2].map(() =>
      features.list.operation(features.list.absentFor(form), seeing(where, form)),
    );
    expect(one).to.equal(two).and.to.be.frozen;
    expect(one).not.to.equal(features.list.operation(features.list.absentFor(OPEN_ACCESS.form), OPEN_ACCESS));
  });

  it('has the values of its own request, and what they refer to', () => {
    const references: readonly Reference[] = [];
    const some: readonly Reference[] = [
      { attribute: 'size', target: plan.info, key: 'id', where: sizeIn('1') },
    ];
    const made = (values: object, given = references) =>
      features.create.operation(
        features.create.absentFor(OPEN_ACCESS.form),
        { ...OPEN_ACCESS, references: given },
        { ...values },
      );
    expect(made({ name: 'a' }, some)).to.deep.include({ row: { name: 'a' }, references: some });
    expect(made({ size: 1 }))
      .to.deep.include({ row: { size: 1 } })
      .and.not.to.have.property('references');
    const changed = (values: object) =>
      features.update.operation(
        features.update.absentFor(OPEN_ACCESS.form),
        { ...OPEN_ACCESS, references: some },
        { ...values },
      );
    expect(changed({ name: 'a' })).to.deep.include({ set: { name: 'a' }, references: some });
    expect(changed({ size: 1 })).to.deep.include({ set: { size: 1 } });
  });

  it('replaces all but the key', () => {
    const keyed = defineModel('Keyed', {
      id: { type: DataTypes.UUID, primaryKey: true },
      name: DataTypes.TEXT,
    });
    const { replace } = featuresOf(planOf(keyed, { endpoints: ['read', 'replace'] }));
    const values = { id: 'x', name: 'a' };
    expect(replace.operation(replace.absentFor(OPEN_ACCESS.form), OPEN_ACCESS, values)).to.deep.include({
      row: values,
      set: { name: 'a' },
    });
  });
});

describe('a selection with more columns', () => {
  const select = { columns: ['id', 'name'] };

  it('is the same for the same names, and the one it is made of where it has them', () => {
    const also = compileAlso();
    expect(also(select, ['size', 'id'])).to.deep.equal({ columns: ['id', 'name', 'size'] }).and.to.be.frozen;
    expect(also(select, ['size', 'id'])).to.equal(also(select, ['size', 'id']));
    expect(also(select, ['size'])).not.to.equal(also(select, ['size', 'id']));
    expect(also(select, ['name'])).to.equal(select);
    expect(also({ columns: ['a'] }, ['size', 'id'])).to.deep.equal({ columns: ['a', 'size', 'id'] });
  });
});
