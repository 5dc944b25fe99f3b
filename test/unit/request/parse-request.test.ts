import { expect } from 'chai';
import type { Request } from 'express';
import { BadRequestError } from 'routing-controllers';
import { DataTypes } from 'sequelize';
import { compileRequestAccess } from '../../../src/access/evaluate-rules.js';
import { setAccessRules } from '../../../src/access/reference-access.js';
import { compileWantedRelations, relatedAccess } from '../../../src/access/related-access.js';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { ResourcePlan } from '../../../src/compile/resource-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import type { BulkEndpoint, Endpoint } from '../../../src/declare/endpoint.js';
import { filter } from '../../../src/declare/filter-template.js';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import { type BulkArguments, compileBulkParser, isForMany } from '../../../src/request/parse-bulk.js';
import {
  compileParser,
  compileWantedParser,
  type ParserSettings,
  parseOnce,
  type RequestArguments,
} from '../../../src/request/parse-request.js';
import { toldNames } from '../../../src/request/request-notes.js';
import { InvalidRequestError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { featuresOf } from '../../support/offline-features.js';
import { decoratorReader, defineModel, planOf } from '../../support/offline-models.js';
import { relatedModels } from '../../support/related-models.js';
import { type SentRequest, sentRequest } from '../../support/sent-request.js';

function settingsOf(plan: ResourcePlan): ParserSettings {
  return { plan, features: featuresOf(plan), access: compileRequestAccess(plan), bodyLimit: 1000 };
}

/** Reads a request, as an endpoint does. */
async function parsed(plan: ResourcePlan, endpoint: Endpoint, sent: SentRequest): Promise<RequestArguments> {
  return compileParser(settingsOf(plan), endpoint)(sentRequest(sent));
}

/** What is wrong with a request, as codes, or its status and what it is refused with. */
async function wrong(work: () => unknown): Promise<unknown> {
  const error = await caughtError(work);
  if (error instanceof InvalidRequestError) {
    return error.errors.map(({ code, ...at }) => `${'pointer' in at ? at.pointer : at.parameter} ${code}`);
  }
  const { status, name } = error as { readonly status?: number; readonly name: string };
  return status ?? name;
}

const { City, Country } = relatedModels();
const OPTIONS = {
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany', 'deleteMany'],
  filterAllow: { name: true, 'country.name': true },
  include: { country: {}, reviews: {} },
  bulk: { max: 2 },
};
function cityPlan(options: object = {}, country: object = {}): ResourcePlan {
  const [plan] = compilePlan(
    [
      { model: City, options: { ...OPTIONS, ...options } as CrudOptions },
      { model: Country, options: country as CrudOptions },
    ],
    decoratorReader,
  );
  if (!plan) throw new Error('There is no plan.');
  return plan;
}

const NAMED = { body: '{"name":"a"}' };
const OF_SEVEN = { params: { id: '7' } };

describe('the arguments of a request', () => {
  it('have what its endpoint takes', async () => {
    const plan = cityPlan();
    expect((await parsed(plan, 'list', { url: '/?size=3' })).query).to.deep.include({ size: 3 });
    expect(await parsed(plan, 'list', {}))
      .to.deep.include({ id: undefined })
      .and.not.to.have.property('values');
    expect(await parsed(plan, 'read', OF_SEVEN))
      .to.deep.include({ id: 7 })
      .and.not.to.have.property('values');
    expect(await parsed(plan, 'delete', OF_SEVEN))
      .to.deep.include({ id: 7 })
      .and.not.to.have.property('values');
    const created = await parsed(plan, 'create', NAMED);
    expect(created).to.deep.include({ id: undefined });
    expect(created.values).to.deep.include({ name: 'a' });
    expect(await parsed(plan, 'update', { ...OF_SEVEN, ...NAMED })).to.deep.include({ id: 7 });
  });

  it('of a replacement are all that the request may set, under the key of the path', async () => {
    const shelf = defineModel('Shelf', {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      name: DataTypes.TEXT,
      size: DataTypes.INTEGER,
    });
    const plan = planOf(shelf, { endpoints: ['read', 'replace'], fields: { size: { read: () => false } } });
    const request = sentRequest({ ...OF_SEVEN, ...NAMED });
    const { id, values } = await compileParser(settingsOf(plan), 'replace')(request);
    expect({ id, values }).to.deep.equal({ id: 7, values: { name: 'a', size: null } });
    expect([...toldNames(request, plan).hidden]).to.deep.equal(['size']);
    const sending = sentRequest({ ...OF_SEVEN, body: '{"size":1}' });
    await compileParser(settingsOf(plan), 'replace')(sending);
    expect([...toldNames(sending, plan).hidden]).to.deep.equal([]);
    expect(await wrong(() => parsed(plan, 'replace', { ...OF_SEVEN, body: '{"id":8}' }))).to.deep.equal([
      '/id key',
    ]);
  });

  it('are checked from the cheapest on: a wrong query, then a wrong id, then the body', async () => {
    const plan = cityPlan();
    const url = '/?x=1';
    const params = { id: 'x' };
    expect(await wrong(() => parsed(plan, 'update', { url, params, body: '{' }))).to.deep.equal([
      'x unknown',
    ]);
    expect(await wrong(() => parsed(plan, 'update', { params, body: '{' }))).to.deep.equal(['id id']);
    expect(await wrong(() => parsed(plan, 'update', { ...OF_SEVEN, body: '{' }))).to.deep.equal([
      ' malformed',
    ]);
    expect(await wrong(() => parsed(plan, 'read', { params: { id: '3000000000' } }))).to.equal(
      'NotFoundError',
    );
    const large = JSON.stringify({ name: 'x'.repeat(1000) });
    expect(await wrong(() => parsed(plan, 'create', { body: large }))).to.deep.equal([' tooLarge']);
  });

  it('are refused by the rules of the resource before that', async () => {
    for (const endpoint of ['list', 'read', 'create', 'update'] as const) {
      const plan = cityPlan({ can: { [endpoint]: () => false } });
      expect(await wrong(() => parsed(plan, endpoint, { url: '/?x=1' }))).to.equal(403);
    }
  });

  it('may be a merge patch where they change a record, and not where they create one', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const plan = cityPlan();
    expect((await parsed(plan, 'update', { ...OF_SEVEN, ...NAMED, headers })).values).to.deep.equal({
      name: 'a',
    });
    expect(await wrong(() => parsed(plan, 'create', { ...NAMED, headers }))).to.deep.equal([' mediaType']);
  });

  it('remember what errors may tell, where attributes have rules', async () => {
    const plan = cityPlan({ fields: { size: { read: () => false } } });
    const request = sentRequest({ ...OF_SEVEN, body: '{"size":1}' });
    await compileParser(settingsOf(plan), 'update')(request);
    expect([...toldNames(request, plan).hidden]).to.deep.equal([]);
  });

  it('see of relations that they name what their rules say', async () => {
    const plan = cityPlan();
    const url = '/?q=country.name==a&include=country';
    const asking: ModelClass[] = [];
    const request = sentRequest({ url });
    const access = compileRequestAccess(planOf(Country, { can: { read: () => false } }));
    const rules = (model: ModelClass) => {
      asking.push(model);
      return model === Country ? access : null;
    };
    setAccessRules(request, { accessTo: rules, keysOf: () => [] });
    expect(await wrong(() => compileParser(settingsOf(plan), 'list')(request))).to.equal(403);
    expect(asking).to.include(Country);
    const open = await parsed(plan, 'list', { url });
    expect(open.query.include).to.have.lengthOf(1);
    expect(open.query.filter).to.deep.include({ kind: 'exists' });
    const filtered = await parsed(plan, 'list', { url: '/?q=country.name==a' });
    expect(filtered.query.filter).to.deep.include({ kind: 'exists' });
    // A read has no filter.
    expect(await wrong(() => parsed(plan, 'read', { ...OF_SEVEN, url }))).to.deep.equal(['q unknown']);
  });

  it('may be those of soft-deleted rows where a rule allows them', async () => {
    const note = defineModel('Note', { name: DataTypes.TEXT }, { timestamps: true, paranoid: true });
    for (const [deleted, outcome] of [
      [true, 'with'],
      [false, ['deleted unknown']],
    ] as const) {
      const plan = planOf(note, { can: { deleted: () => deleted } });
      for (const endpoint of ['list', 'read'] as const) {
        const read = () => parsed(plan, endpoint, { ...OF_SEVEN, url: '/?deleted=with' });
        expect(deleted ? (await read()).query.deleted : await wrong(read)).to.deep.equal(outcome);
      }
    }
  });

  it('are read once for all who ask', async () => {
    let count = 0;
    const parse = parseOnce(() => {
      count += 1;
      return count;
    });
    const request = {} as Request;
    expect([await parse(request), await parse(request), await parse({} as Request)]).to.deep.equal([1, 1, 2]);
  });

  it('of an id that a function of the user refuses are refused as it says', async () => {
    const refusing = (error: Error) => {
      const idType = () => {
        throw error;
      };
      return wrong(() => parsed(planOf(defineModel('List'), { idType }), 'read', OF_SEVEN));
    };
    expect(await refusing(new Error('own'))).to.deep.equal(['id id']);
    expect(await refusing(new BadRequestError('own'))).to.equal('BadRequestError');
  });
});

describe('the arguments of a hand-written route', () => {
  const read = (wanted: object, sent: SentRequest, plan = cityPlan()) => {
    const none = { operation: undefined, hasId: false, hasList: false, others: [] };
    return compileWantedParser(settingsOf(plan), { ...none, ...wanted })(sentRequest(sent));
  };

  it('are those that it asks for', async () => {
    const sent = { ...OF_SEVEN, url: '/?size=3' };
    const { query, id } = await read({}, sent);
    expect({ query, id }).to.deep.equal({ query: {}, id: undefined });
    expect((await read({ hasId: true }, sent)).id).to.equal(7);
    expect((await read({ hasList: true }, sent)).query).to.deep.include({ size: 3 });
    expect((await read({ hasList: true, others: ['own'] }, { url: '/?own=1&size=3' })).query.size).to.equal(
      3,
    );
    expect(await wrong(() => read({ hasList: true }, { url: '/?own=1' }))).to.deep.equal(['own unknown']);
    const note = defineModel('Note', { name: DataTypes.TEXT }, { timestamps: true, paranoid: true });
    const soft = planOf(note, { can: { deleted: () => true } });
    const withDeleted = { url: '/?deleted=with' };
    expect((await read({ hasList: true }, withDeleted, soft)).query.deleted).to.equal('with');
    const own = await read({ hasList: true, others: ['deleted'] }, withDeleted, soft);
    expect(own.query.deleted).to.equal(undefined);
    const related = await read({ hasList: true }, { url: '/?q=country.name==a' });
    expect(related.query.filter).to.deep.include({ kind: 'exists' });
  });

  it('are refused where it stands for an operation that the request may not do', async () => {
    const plan = cityPlan({ can: { delete: () => false } });
    expect(await wrong(() => read({ operation: 'delete' }, {}, plan))).to.equal(403);
    expect((await read({}, {}, plan)).access.where).to.equal(null);
  });
});

describe('the arguments of a request for many records', () => {
  const parse = async (endpoint: BulkEndpoint, sent: SentRequest, plan = cityPlan(), hasSingle = false) =>
    compileBulkParser(settingsOf(plan), endpoint, hasSingle)(sentRequest(sent));
  const many = async (...args: Parameters<typeof parse>): Promise<BulkArguments> => {
    const input = await parse(...args);
    if (!isForMany(input)) throw new Error('This is for one.');
    return input;
  };
  const TWO = { body: '[{"id":1,"name":"a"},{"id":2}]' };

  it('are items of the body', async () => {
    const { items, each, inputs } = await many('updateMany', TWO);
    expect(items?.map(({ input }) => input?.id)).to.deep.equal([1, 2]);
    expect(each).to.equal(null);
    expect(inputs).to.deep.include({ isAtomic: true, isDryRun: false });
    const created = await many('createMany', { url: '/?dry_run=true', body: '[{"name":"a"}]' });
    expect(created.items?.[0]?.input?.values).to.deep.include({ name: 'a' });
    expect(created.inputs.isDryRun).to.equal(true);
  });

  it('are rows that a filter finds, by relations too, and what becomes of each', async () => {
    for (const q of ['name==a', 'country.name==a']) {
      const url = `/?q=${q}&max_affected=2`;
      const changed = await many('updateMany', { url, ...NAMED });
      expect(changed.items).to.equal(null);
      expect(changed.each?.values).to.deep.equal({ name: 'a' });
      expect(changed.inputs).to.deep.include({ maxAffected: 2 });
      const deleted = await many('deleteMany', { url });
      expect([deleted.items, deleted.each?.values]).to.deep.equal([null, undefined]);
      expect(deleted.inputs.filter?.kind).to.equal(changed.inputs.filter?.kind);
    }
    expect(await wrong(() => many('updateMany', { url: '/?q=name==a', ...TWO }))).not.to.equal(undefined);
    expect(await wrong(() => many('createMany', { url: '/?q=name==a', ...TWO }))).to.deep.equal([
      'q unknown',
    ]);
  });

  it('need a filter or a list', async () => {
    expect(await wrong(() => many('deleteMany', {}))).to.deep.equal(['q required']);
    expect(await wrong(() => many('updateMany', NAMED))).to.deep.equal(['q required']);
    expect(await wrong(() => many('createMany', NAMED))).to.deep.equal([' isArray']);
  });

  it('may be those of one record, with its own parameters alone', async () => {
    const plan = cityPlan();
    const one = await parse('createMany', NAMED, plan, true);
    expect(isForMany(one)).to.equal(false);
    expect((one as RequestArguments).values).to.deep.include({ name: 'a' });
    for (const url of ['/?dry_run=true', '/?x=1']) {
      expect(await wrong(() => parse('createMany', { url, ...NAMED }, plan, true))).to.have.lengthOf(1);
    }
    const ignoring = cityPlan({ unknownQuery: 'ignore' });
    expect(
      await wrong(() => parse('createMany', { url: '/?dry_run=true', ...NAMED }, ignoring, true)),
    ).to.have.lengthOf(1);
  });

  it('are as many as the resource says, and one at least', async () => {
    expect(await wrong(() => many('createMany', { body: '[]' }))).to.deep.equal([' empty']);
    expect(await wrong(() => many('createMany', { body: '[{},{},{}]' }))).to.deep.equal([' tooMany']);
    expect((await many('createMany', { body: '[{"name":"a"},{"name":"b"}]' })).items).to.have.lengthOf(2);
  });

  it('have all that is wrong with any, or keep it for each where each stands for itself', async () => {
    const body = '[{"id":1,"name":1},{"id":"x"}]';
    expect(await wrong(() => many('updateMany', { body }))).to.have.members(['/0/name isString', '/1/id id']);
    const { items } = await many('updateMany', { url: '/?atomic=false', body });
    expect(items?.map(({ problem }) => problem?.name)).to.deep.equal([
      'InvalidBodyError',
      'InvalidBodyError',
    ]);
    const impossible = '[{"id":1},{"id":3000000000}]';
    expect(await wrong(() => many('updateMany', { body: impossible }))).to.equal('NotFoundError');
  });

  it('have no condition on the state of one record', async () => {
    const refused = async (endpoint: BulkEndpoint, name: string) => {
      const headers = { [name]: '*' };
      return wrong(() =>
        many(endpoint, { ...(endpoint === 'createMany' ? { body: '[{"name":"a"}]' } : TWO), headers }),
      );
    };
    expect(await refused('updateMany', 'if-match')).to.equal(412);
    expect(await refused('updateMany', 'if-none-match')).to.equal(412);
    expect(await refused('deleteMany', 'if-match')).to.equal(412);
    expect(await refused('createMany', 'if-match')).to.equal(412);
    expect(
      (await many('createMany', { body: '[{"name":"a"}]', headers: { 'if-none-match': '*' } })).items,
    ).to.have.lengthOf(1);
  });

  it('have no key where none is kept', async () => {
    const headers = { 'idempotency-key': '6f1c4f0e-7d5a-4a39-9d6b-1f0a3f0b7e11' };
    expect(await wrong(() => many('createMany', { body: '[{"name":"a"}]', headers }))).to.equal(400);
  });

  it('name their versions where these are needed, which a filter cannot', async () => {
    const versioned = defineModel('Paper', { name: DataTypes.TEXT }, { version: true });
    const plan = planOf(versioned, {
      endpoints: ['read', 'update', 'updateMany'],
      filterAllow: ['name'],
      ifMatch: 'required',
    });
    expect(await wrong(() => many('updateMany', { url: '/?q=name==a', ...NAMED }, plan))).to.equal(428);
    expect((await many('updateMany', { body: '[{"id":1,"version":3}]' }, plan)).items).to.have.lengthOf(1);
  });

  it('need the right to list where a filter finds the rows', async () => {
    const plan = cityPlan({ can: { list: () => false } });
    expect(await wrong(() => many('deleteMany', { url: '/?q=name==a' }, plan))).to.equal(403);
    expect((await many('updateMany', TWO, plan)).items).to.have.lengthOf(2);
    const closed = cityPlan({ can: { update: () => false } });
    expect(await wrong(() => many('updateMany', TWO, closed))).to.equal(403);
  });
});

describe('the relations that a request is about', () => {
  const plan = cityPlan();
  const names = (target: string, hasFilter = true, hidden: readonly string[] = []) =>
    compileWantedRelations(plan, hasFilter)?.(target, {
      ...OPEN_ACCESS.form,
      unreadable: new Set(hidden),
    })?.map(({ relation }) => relation.name);

  it('are those that it includes or filters by', () => {
    expect(names('/?include=country')).to.deep.equal(['country']);
    expect(names('/?%69nclude=country,reviews')).to.have.members(['country', 'reviews']);
    expect(names('/?q=country.name==a')).to.deep.equal(['country']);
    expect(names('/?q=country.name==a', false)).to.deep.equal([]);
    expect(names('/?q=country.name==a', true, ['countryId'])).to.deep.equal([]);
    expect(names('/?q=(')).to.deep.equal([]);
    expect(names('/?size=3')).to.deep.equal([]);
    expect(compileWantedRelations(planOf(defineModel('Alone')))).to.equal(null);
  });

  it('are those of a filter alone, too', () => {
    const filtering = compileWantedRelations(cityPlan({ include: {} }));
    expect(filtering?.('/?q=country.name==a')).to.have.lengthOf(1);
    expect(compileWantedRelations(cityPlan({ include: {} }), false)).to.equal(null);
    const included = compileWantedRelations(cityPlan({ filterAllow: ['name'] }), false);
    expect(included?.('/?include=country')).to.have.lengthOf(1);
  });

  it('are seen within the rule of the relation, and those of their model', async () => {
    const ruled = cityPlan({ include: { country: { where: () => filter`name==${'a'}` } } });
    const [country] = compileWantedRelations(ruled)?.('/?include=country') ?? [];
    if (!country) throw new Error('There is one.');
    const name = { kind: 'comparison', attribute: 'name', operator: '==', values: ['a'] };
    expect((await relatedAccess({} as Request, country)).where).to.deep.equal(name);
    const request = {} as Request;
    const access = compileRequestAccess(planOf(Country, { visible: () => filter`region==${'x'}` }));
    setAccessRules(request, { accessTo: (model) => (model === Country ? access : null), keysOf: () => [] });
    const { target, where, through } = await relatedAccess(request, country);
    expect({ where, through }).to.deep.equal({ where: name, through: null });
    expect(target.where).to.deep.equal({ ...name, attribute: 'region', values: ['x'] });
  });

  it('are seen as rules say, which are asked once', async () => {
    const [country] = compileWantedRelations(plan)?.('/?include=country') ?? [];
    if (!country) throw new Error('There is one.');
    expect(relatedAccess({} as Request, country)).to.equal(relatedAccess({} as Request, country));
    const request = {} as Request;
    let asked = 0;
    const rule = () => {
      asked += 1;
      return Promise.resolve(true);
    };
    const access = compileRequestAccess(planOf(Country, { can: { read: rule } }));
    setAccessRules(request, { accessTo: (model) => (model === Country ? access : null), keysOf: () => [] });
    const [first, second] = await Promise.all([
      relatedAccess(request, country),
      relatedAccess(request, country),
    ]);
    expect(first).to.equal(second);
    expect(asked).to.equal(1);
  });
});
