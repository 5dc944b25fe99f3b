/** The route of the option `aggregate`: its path, its rules, its guards, and the mistakes that keep an application from starting. */
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { UseBefore } from 'routing-controllers';
import { type DataType as AnyType, Op } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudController, crudController, crudRouter, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { attach, defineModel } from '../../support/offline-models.js';
import { serveTestApp } from '../../support/test-app.js';

/** They override lists, which may hide rows. */
const REASON = 'it has a method list, with which no application has aggregates';
const NO_OVERRIDES = { session: REASON, records: REASON };

const isStaff = (request: Request) => request.get('Role') === 'staff';

@Crud({
  prefix: '/marbles',
  aggregate: { group: ['colour', 'size'] },
  filterAllow: ['size'],
  visible: (request) => filter`owner==${request.get('Owner') ?? 'ann'}`,
  can: { list: isStaff, deleted: true },
  fields: { size: { read: (request) => request.get('Blind') === undefined } },
})
@Table({ tableName: 'marbles', paranoid: true, createdAt: false, updatedAt: false })
class Marble extends NumberedRow {
  @Column(DataType.STRING(10)) declare colour: string | null;
  @Column(DataType.STRING(10)) declare owner: string;
  @Column(DataType.INTEGER) declare size: number;
}

/** The rule of aggregates is another one than that of lists. */
@Crud({ aggregate: { group: ['kind'], path: 'kinds' }, can: { list: false, aggregate: true } })
@Table({ tableName: 'pebbles', timestamps: false })
class Pebble extends NumberedRow {
  @Column(DataType.STRING(10)) declare kind: string;
}

/** Its default scope hides rows, and it is searched. */
@Crud({
  aggregate: { group: ['kind'], requireFilter: true },
  search: ['kind'],
  filterAllow: ['kind'],
  unknownQuery: 'ignore',
})
@Table({ tableName: 'shells', timestamps: false, defaultScope: { where: { kind: { [Op.ne]: 'hidden' } } } })
class Shell extends NumberedRow {
  @Column(DataType.STRING(20)) declare kind: string;
}

@Crud({ aggregate: { group: ['kind'] } })
@Table({ tableName: 'gems', timestamps: false })
class Gem extends NumberedRow {
  @Column(DataType.STRING(10)) declare kind: string;
}

function pass(_request: Request, _response: Response, next: () => void): void {
  next();
}

class GuardedList extends crudController(Gem) {
  @UseBefore(pass) override list(...given: Parameters<CrudController<Gem>['list']>) {
    return super.list(...given);
  }
}

except(NO_OVERRIDES).describe('the route of aggregates', () => {
  const site = serveTestApp(() => ({
    models: [Marble, Pebble, Shell],
  }));
  before(async () => {
    await Marble.bulkCreate([
      { id: 1, colour: 'red', owner: 'ann', size: 1 },
      { id: 2, colour: 'red', owner: 'ann', size: 2 },
      { id: 3, colour: null, owner: 'ann', size: 2 },
      { id: 4, colour: 'blue', owner: 'bob', size: 2 },
      { id: 5, colour: 'red', owner: 'ann', size: 9 },
    ]);
    await Marble.destroy({ where: { id: 5 } });
    await Pebble.create({ id: 1, kind: 'grey' });
  });
  const get = (path: string, headers: Record<string, string> = {}) =>
    site.agent.get(path).set({ Role: 'staff', ...headers });

  it('groups the rows that the list has, with its filter, its rules and its deleted rows', async () => {
    const groups = async (query: string, headers = {}) => {
      const { status, body } = await get(`/marbles/aggregate${query}`, headers);
      expect(status).to.equal(200);
      return body;
    };
    expect(await groups('?group=colour')).to.deep.equal({
      items: [
        { group: { colour: 'red' }, count: 2 },
        { group: { colour: null }, count: 1 },
      ],
      has_next: false,
    });
    expect(await groups('?group=colour,size&q=size==2&size=1')).to.deep.equal({
      items: [{ group: { colour: 'red', size: 2 }, count: 1 }],
      has_next: true,
    });
    expect(await groups('?group=colour&size=1&page=2')).to.deep.equal({
      items: [{ group: { colour: null }, count: 1 }],
      has_next: false,
    });
    expect(await groups('')).to.deep.equal({ items: [{ group: {}, count: 3 }], has_next: false });
    expect(await groups('?deleted=only')).to.deep.equal({
      items: [{ group: {}, count: 1 }],
      has_next: false,
    });
    expect(await groups('?group=colour', { Owner: 'eve' })).to.deep.equal({ items: [], has_next: false });
  });

  it('has the rule of lists, or its own', async () => {
    const { status, body } = await site.agent.get('/marbles/aggregate');
    expect({ status, detail: body.detail }).to.deep.equal({
      status: 403,
      detail: 'This request may not aggregate Marble.',
    });
    expect((await site.agent.get('/pebbles')).status).to.equal(403);
    expect((await site.agent.get('/pebbles/kinds?group=kind')).body).to.deep.equal({
      items: [{ group: { kind: 'grey' }, count: 1 }],
      has_next: false,
    });
  });

  it('refuses what it does not have, and what the request may not read, in the same words', async () => {
    const refused = async (query: string, headers = {}) => {
      const { status, body } = await get(`/marbles/aggregate?${query}`, headers);
      expect(status).to.equal(400);
      return body.errors;
    };
    expect(await refused('group=owner&sort=id&after=x')).to.deep.equal([
      {
        parameter: 'after',
        code: 'unknown',
        detail: "This route has no parameter 'after'. It accepts q, group, having, sort, size, page.",
      },
      {
        parameter: 'group',
        code: 'aggregate.unknown',
        detail: "Parameter 'group' has 'owner'. It accepts colour, size.",
        allowed: ['colour', 'size'],
      },
    ]);
    const [hidden] = await refused('group=size', { Blind: 'yes' });
    expect(hidden.detail).to.equal("Parameter 'group' has 'size'. It accepts colour.");
    const [unknown] = await refused('group=sizf', { Blind: 'yes' });
    expect(unknown.detail).to.equal("Parameter 'group' has 'sizf'. It accepts colour.");
    expect(await refused('q=size==2', { Blind: 'yes' })).to.have.length(1);
  });

  it('is named where a list is asked for distinct values', async () => {
    const { status, body } = await get('/marbles?distinct=colour');
    expect(status).to.equal(400);
    expect(body.detail).to.match(
      /^This route has no parameter 'distinct'\. For the distinct values of an attribute, send group=… to \/marbles\/aggregate\. It accepts /,
    );
  });

  it('has the default scope of the model, its search, and no hook that chooses rows', async () => {
    await Shell.bulkCreate([{ kind: 'cowrie' }, { kind: 'cowrie' }, { kind: 'conch' }, { kind: 'hidden' }]);
    const groups = async (query: string) => (await get(`/shells/aggregate?group=kind&${query}`)).body;
    const cowries = { items: [{ group: { kind: 'cowrie' }, count: 2 }], has_next: false };
    expect(await groups('search=wrie&q=kind!=x')).to.deep.equal(cowries);
    expect(await groups('q=kind!=conch&more=1')).to.deep.equal(cowries);
    for (const query of ['', 'search=wrie'])
      expect((await groups(query)).errors[0].code, query).to.equal('aggregate.filter');
    expect((await site.agent.head('/shells/aggregate?q=kind==conch')).status).to.equal(200);
    Shell.addHook('beforeFind', 'late', () => {});
    expect((await get('/shells/aggregate?q=kind==conch')).status).to.equal(500);
    Shell.removeHook('beforeFind', 'late');
  });

  it('has a tag as lists have, and stands in the table of routes', async () => {
    const first = await get('/marbles/aggregate?group=colour');
    expect(first.get('ETag')).to.match(/^W\//);
    const again = await get('/marbles/aggregate?group=colour', {
      'If-None-Match': first.get('ETag') as string,
    });
    expect(again.status).to.equal(304);
    expect((await site.agent.post('/marbles/aggregate')).status).to.equal(405);
    const found = site.crud.routes.filter(({ operation }) => operation === 'aggregate');
    expect(found.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'GET /marbles/aggregate',
      'GET /pebbles/kinds',
      'GET /shells/aggregate',
    ]);
  });
});

describe('an application with aggregates', () => {
  it('does not start where the list has a method, which may decide about rows', async () => {
    attach(Gem);
    expect(await configProblems(() => buildApp({ models: [], controllers: [GuardedList] }))).to.deep.equal([
      'GuardedList: aggregate would count rows that the list may hide, because GuardedList has a method list; write the condition as ' +
        'scope or visible, or leave aggregate out.',
    ]);
  });

  it('does not start where the word may be an id, unless the word was chosen', async () => {
    const problems = (type: AnyType, options: object) => () =>
      crudRouter(defineModel('Stone', { code: { type, primaryKey: true }, kind: DataType.TEXT }), options);
    const aggregate = { group: ['kind'] };
    const taken = (word: string) =>
      `Stone: GET /${word} may be the path of a record with the id '${word}', which could not be read; set aggregate.path to a word that ` +
      `no id is, such as 'all-${word}'.`;
    const texts = [DataType.STRING(20), DataType.TEXT, DataType.ENUM('aggregate', 'other')];
    for (const type of texts)
      expect(await configProblems(problems(type, { aggregate }))).to.deep.equal([taken('aggregate')]);
    const idType = (raw: string) => raw;
    expect(await configProblems(problems(DataType.UUID, { aggregate, idType }))).to.deep.equal([
      taken('aggregate'),
    ]);
    for (const type of [DataType.INTEGER, DataType.UUID, DataType.ENUM('one', 'other'), DataType.DATEONLY])
      problems(type, { aggregate })();
    problems(DataType.TEXT, { aggregate: { ...aggregate, path: 'all-stones' } })();
    problems(DataType.TEXT, { aggregate, endpoints: ['list'] })();
  });
});
