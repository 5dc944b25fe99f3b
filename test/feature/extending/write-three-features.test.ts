/** Capabilities, each in one file: a search, an export, a trail and a route. No other file names them, and each application has its own. */
// @runs fast

import { expect } from 'chai';
import express from 'express';
import { Body, Get, JsonController, Patch, Post, UseBefore } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Column, DataType, ForeignKey, HasMany, Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { buildApplication } from '../../../src/bootstrap.js';
import { FEATURES } from '../../../src/features/features.js';
import type { ActingFeature } from '../../../src/handle/around.js';
import {
  type Class,
  Crud,
  type CrudApplication,
  type CrudContext,
  crudController,
  type Id,
  InjectId,
  InjectListQuery,
  InjectRepository,
  InjectUnitOfWork,
  type ListQuery,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import type { FeatureFactory } from '../../../src/operation/feature.js';
import { sqlCondition } from '../../../src/operation/predicates.js';
import { ENDPOINTS_FOR_GOOD } from '../../models/endpoints.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { freshDatabase } from '../../support/postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';
import { exportLines } from './features/export-lines.js';
import { newest } from './features/newest.js';
import { search } from './features/search.js';
import { trail } from './features/trail.js';

@Crud({
  pagination: 'cursor',
  filterAllow: ['name'],
  sortAllow: ['id', 'name'],
  endpoints: ENDPOINTS_FOR_GOOD,
  import: { modes: ['create', 'update'] },
  trail: true,
})
@Table({ tableName: 'moons', timestamps: false })
class Moon extends NamedRow {
  @ForeignKey(() => Sun) @Column(DataType.INTEGER) declare sunId: number | null;
}

@Crud({ filterAllow: ['name'], sortAllow: ['name'], subresources: { moons: { where: 'all' } } })
@Table({ tableName: 'suns', timestamps: false })
class Sun extends NamedRow {
  @HasMany(() => Moon) declare moons: Moon[];
}

@Crud({ trail: true })
@Table({ tableName: 'comets', paranoid: true })
class Comet extends NamedRow {}

class GuardedSuns extends crudController(Sun) {
  @UseBefore((_request: unknown, response: express.Response) => void response.status(418).end())
  override list(query: ListQuery, context: CrudContext<Sun>) {
    return super.list(query, context);
  }
}

class OwnSuns extends crudController(Sun) {
  @Get('/named')
  named(@InjectListQuery() query: ListQuery) {
    return new Repository(Sun).page({ ...query, kind: 'offset', page: 1, size: 2 } as never);
  }
}

/** Work around reads, which leaves a header. */
const marked = (): ActingFeature => ({
  around: (_resource, route) => async () => ({
    async run(next) {
      const draft = await next();
      return draft && { ...draft, headers: { ...draft.headers, 'X-Around': route.endpoint } };
    },
  }),
});

const MODELS = [Moon, Sun, Comet];
/** Attached to an instance without `createAll`. */
@Crud({ trail: true })
@Table({ tableName: 'planets', timestamps: false })
class Planet extends NamedRow {}

@Crud({ trail: true })
@Table({ tableName: 'clouds', timestamps: false })
class Cloud extends NumberedRow {}

const OPTIONS = { models: MODELS, logger: new CapturedLog(), indexAdvice: false };
const ALL_FEATURES = [...FEATURES, search, exportLines, trail, newest, marked];
const NAMES = ['Io', 'Titan', 'Titania', 'Triton', 'Rhea', 'Tethys'];

describe('features of one file each', () => {
  const site = forSuite(() => startTestApp({ models: MODELS, bootstrap: { models: [] } }));

  before(async () => {
    await buildApplication({ ...OPTIONS, idempotency: { principal: () => '' } }, ALL_FEATURES).start();
  });

  beforeEach(async () => {
    await emptyTables(site, 'moons', 'suns', 'comets', 'trail');
    const rows = NAMES.map((name) => ({ name }));
    await Sun.bulkCreate(rows);
    await Moon.bulkCreate(rows);
  });

  describe('at the start', () => {
    const build = (options: object = {}) =>
      buildApplication({ ...OPTIONS, indexAdvice: true, ...options }, ALL_FEATURES);

    it('has its table made, which is there from then on', async () => {
      const { sequelize } = site.engine;
      await sequelize.query('DROP TABLE trail');
      await build().start();
      await build().start();
      expect(await sequelize.query('SELECT * FROM trail', { type: QueryTypes.SELECT })).to.deep.equal([]);
    });

    it('logs a table that is missing, with its SQL', async () => {
      const database = await freshDatabase();
      const sequelize = new Sequelize(database.url, {
        dialect: 'postgres',
        models: [Planet],
        logging: false,
      });
      await using _closed = { [Symbol.asyncDispose]: () => sequelize.close().then(database.drop) };
      await sequelize.sync();
      const logger = new CapturedLog();
      await build({ models: [Planet], logger }).start();
      const [{ level, message } = {}] = logger.lines.filter((line) => line.message.includes('trail'));
      expect([level, message]).to.deep.equal([
        'error',
        'there is no table trail, so that writes with a trail fail; create it by a migration, or by createAll: true of ' +
          'engineLifespan: CREATE TABLE IF NOT EXISTS trail (at bigint GENERATED ALWAYS AS IDENTITY, model text, endpoint text, ' +
          'key text, name text); CREATE INDEX IF NOT EXISTS trail_model ON trail (model, at);',
      ]);
    });

    it('prints tables and indexes as SQL', () => {
      const { sql } = build();
      expect(sql())
        .to.include('CREATE TABLE IF NOT EXISTS trail (')
        .and.to.include('CREATE INDEX IF NOT EXISTS trail_model ON trail (model, at);')
        .and.to.include(
          `-- Sun: no index serves a search by 'name' (search)\nCREATE INDEX ON "suns" USING gin ("name" gin_trgm_ops);`,
        );
    });

    it('advises its index', async () => {
      const warningsOf = async (options: object) => {
        const logger = new CapturedLog();
        await build({ logger, ...options }).start();
        return logger.text;
      };
      expect(JSON.parse(await warningsOf({}))[0].message).to.include(
        `Comet: no index serves a search by 'name' (search); CREATE INDEX ON "comets" USING gin ("name" gin_trgm_ops);`,
      );
      expect(await warningsOf({ indexAdvice: false })).to.not.include('no index');
    });

    it('throws all that is wrong with its options, with all other problems', async () => {
      const wrong = { trailHeader: 1, landing: 1, trial: true };
      expect(await configProblems(() => build(wrong))).to.include.members([
        'trailHeader is no text; use one such as X-Trail.',
        'landing is 1; use true or false.',
      ]);
      new Sequelize({ dialect: 'postgres', models: [Cloud] });
      const serve = (features: readonly FeatureFactory[]) => () =>
        buildApplication({ models: [Cloud], logger: OPTIONS.logger }, features);
      expect(await configProblems(serve(ALL_FEATURES))).to.deep.equal([
        'Cloud: trail is for models that have a name.',
      ]);
      const [unknown] = await configProblems(serve(FEATURES));
      expect(unknown).to.include("Cloud: @Crud has no option 'trail'.");
    });

    it('takes the value of its option', () => {
      const { application } = build({ trailHeader: 'X-Kept' });
      expect(application.openapi().paths['/moons']?.post?.responses[201]).to.have.nested.property(
        'headers.X-Kept',
      );
    });
  });

  for (const [path, options] of [
    ['the fast path', { fastPath: true }],
    ['the general path', { fastPath: false }],
    ['the path of an override', { fastPath: true, controllers: [passingController(crudController(Moon))] }],
  ] as const) {
    describe(`on ${path}`, () => {
      let application: CrudApplication;
      let agent: ReturnType<typeof supertest>;

      const build = (...controllers: Class[]) => {
        const more = { fastPath: options.fastPath, idempotency: { principal: () => 'one' } };
        const built = buildApplication({ ...OPTIONS, ...more, controllers }, ALL_FEATURES);
        return { ...built, agent: supertest(express().use(built.router)) };
      };
      before(() => {
        ({ application, agent } = build(...('controllers' in options ? options.controllers : [])));
      });

      const names = ({ body }: supertest.Response) => body.items.map(({ name }: Sun) => name);
      const linesOf = async (target: string) => {
        const answer = await agent.get(target).set('Accept', 'application/x-ndjson').buffer();
        expect(answer.headers).to.include({
          'content-type': 'application/x-ndjson; charset=utf-8',
          vary: 'Accept',
        });
        expect(answer.status).to.equal(200);
        const lines = answer.text.split('\n').slice(0, -1);
        return lines.map((line) => JSON.parse(line));
      };

      describe('newest', () => {
        it('is reached before a route of another id, with the inputs and forms of its operation', async () => {
          const first = await agent.get('/suns/newest?size=2');
          expect([names(first), first.headers['x-around']]).to.deep.equal([['Tethys', 'Rhea'], 'list']);
          expect(await linesOf('/suns/newest?q=name!=Tethys&size=1&fields=name')).to.deep.equal([
            { name: 'Rhea' },
          ]);
          expect((await agent.get('/suns/newest?limit=1')).status).to.equal(400);
          expect((await agent.post('/suns/newest').send({})).status).to.equal(405);
        });

        it('stands in the route table and in the document', () => {
          const route = application.routes.find(({ path: place }) => place === '/suns/newest');
          expect(route).to.deep.include({ method: 'GET', resource: 'Sun', operation: 'list' });
          expect(route?.generalPathReasons).to.deep.equal(options.fastPath ? [] : ['fastPath is false']);
          const described = application.openapi().paths['/suns/newest']?.get;
          expect(described?.summary).to.equal('List the newest suns');
        });

        it('has the guards of the method that it names, and leaves other forms to routes of the user', async () => {
          expect((await build(GuardedSuns).agent.get('/suns/newest')).status).to.equal(418);
          const own = build(OwnSuns);
          expect(names(await own.agent.get('/suns/named'))).to.have.length(2);
          const { headers } = await own.agent.get('/suns/named').set('Accept', 'application/x-ndjson');
          expect(headers['content-type']).to.equal('application/x-ndjson; charset=utf-8');
        });
      });

      describe('search', () => {
        it('adds a condition to the rows, beside q and in any order', async () => {
          expect(names(await agent.get('/moons?search=TIT'))).to.deep.equal(['Titan', 'Titania']);
          expect(names(await agent.get('/moons?search=it&sort=-name&q=name!=Titan'))).to.deep.equal([
            'Triton',
            'Titania',
          ]);
        });

        it('adds it to the total', async () => {
          const { body } = await agent.get('/suns?search=tit&size=1');
          expect(body).to.include({ total: 2, pages: 2 });
          expect(body.items).to.have.length(1);
        });

        it('takes every character for itself', async () => {
          await Moon.create({ name: "50% o'Titan_$1" });
          for (const text of ['50%', "o'T", '_$1', '$1'])
            expect(names(await agent.get('/moons').query({ search: text }))).to.deep.equal([
              "50% o'Titan_$1",
            ]);
          expect(names(await agent.get('/moons?search=__'))).to.deep.equal([]);
        });

        it('belongs to its cursors', async () => {
          const first = await agent.get('/moons?search=tit&size=1');
          expect(names(first)).to.deep.equal(['Titan']);
          const after = encodeURIComponent(first.body.next_cursor);
          const second = await agent.get(`/moons?search=tit&size=1&after=${after}`);
          expect(names(second)).to.deep.equal(['Titania']);
          expect(second.body.has_next).to.equal(false);
          for (const other of ['', '&search=tri', '&q=name==Titan'])
            expectIssue(await agent.get(`/moons?size=1${other}&after=${after}`), 400, {
              parameter: 'after',
              code: 'cursor.mismatch',
              detail:
                'The cursor was made for another list: the resource, sort or q is not the same. Start again without a cursor.',
            });
          const whole = await agent.get('/moons?size=1');
          const { next_cursor } = whole.body;
          const refused = await agent.get('/moons').query({ search: 'tit', size: 1, after: next_cursor });
          expect(refused.status).to.equal(400);
        });

        it('holds for repositories', async () => {
          const filter = sqlCondition`${{ attribute: 'name' }} ~ ${'^T.*n$'}`;
          const page = await new Repository(Moon).page({ filter, page: 1, size: 2 });
          expect(page.items.map(({ name }) => name)).to.deep.equal(['Titan', 'Triton']);
          expect(page.total).to.equal(2);
        });

        it('refuses what it cannot use', async () => {
          expectIssue(await agent.get('/moons?search=x'), 400, {
            parameter: 'search',
            code: 'short',
            detail: 'search takes two characters or more.',
          });
        });
      });

      describe('export', () => {
        it('writes a record on each line', async () => {
          const rows = await Sun.findAll({ order: ['id'] });
          expect(await linesOf('/suns')).to.deep.equal(rows.map((row) => row.toJSON()));
          expect(await linesOf('/suns?fields=name&sort=-name&size=2&q=')).to.deep.equal([
            { name: 'Triton' },
            { name: 'Titania' },
          ]);
        });

        it('gives the same pages, with conditions and cursors of other features', async () => {
          const [first, last] = await linesOf('/moons?search=tit&size=1&fields=name');
          expect(first).to.deep.equal({ name: 'Titan' });
          const after = encodeURIComponent(last.next_cursor);
          expect(await linesOf(`/moons?search=tit&size=1&fields=name&after=${after}`)).to.deep.equal([
            { name: 'Titania' },
          ]);
          expect(names(await agent.get(`/moons?search=tit&size=1&after=${after}`))).to.deep.equal([
            'Titania',
          ]);
        });

        it('has no line where there is no record', async () => {
          const answer = await agent.get('/moons?search=nothing').set('Accept', 'application/x-ndjson');
          expect(answer.status).to.equal(200);
          expect(answer.headers['content-type']).to.match(/^application\/x-ndjson/);
          expect(answer.text ?? '').to.equal('');
        });

        it('is there for the lists of sub-resources', async () => {
          const [sun] = await Sun.findAll({ limit: 1 });
          await Moon.update({ sunId: sun?.id ?? null }, { where: { name: ['Titan', 'Io'] } });
          expect(await linesOf(`/suns/${sun?.id}/moons?fields=name`)).to.deep.equal([
            { name: 'Io' },
            { name: 'Titan' },
          ]);
          expect(await linesOf(`/suns/${sun?.id}/moons?fields=name&search=tit`)).to.deep.equal([
            { name: 'Titan' },
          ]);
        });

        it('is JSON for whoever takes that as well, and a problem for what goes wrong', async () => {
          for (const accept of ['*/*', 'application/json', 'text/html', 'application/x-ndjson;q=0.5,*/*']) {
            const answer = await agent.get('/suns').set('Accept', accept);
            expect(names(answer)).to.deep.equal(NAMES);
            expect(answer.headers).to.include({
              'content-type': 'application/json; charset=utf-8',
              vary: 'Accept',
            });
          }
          const refused = await agent.get('/suns?size=0').set('Accept', 'application/x-ndjson');
          expect(refused.status).to.equal(400);
          expect(refused.headers['content-type']).to.equal('application/problem+json');
        });
      });

      describe('trail', () => {
        const kept = async (model = 'Moon') =>
          (
            await site.engine.sequelize.query<Record<'endpoint' | 'key' | 'name', string>>(
              'SELECT endpoint, key, name FROM trail WHERE model = $1 ORDER BY at',
              { bind: [model], type: QueryTypes.SELECT },
            )
          ).map(({ endpoint, key, name }) => [endpoint, Number(key), name]);

        it('keeps each write of one record', async () => {
          const { body, headers } = await agent.post('/moons').send({ name: 'Deimos' });
          expect(headers['x-trail']).to.equal('true');
          await agent.patch(`/moons/${body.id}`).send({ name: 'Phobos' });
          expect((await agent.delete(`/moons/${body.id}`)).status).to.equal(204);
          expect((await agent.delete(`/moons/${body.id}`)).status).to.equal(404);
          expect(await kept()).to.deep.equal([
            ['create', body.id, 'Deimos'],
            ['update', body.id, 'Phobos'],
            ['delete', body.id, null],
          ]);
        });

        it('keeps each record of a bulk write', async () => {
          const { body } = await agent.post('/moons').send([{ name: 'Ariel' }, { name: 'Miranda' }]);
          const [first, second] = body.items.map(({ id }: Moon) => id);
          await agent.patch('/moons').send([
            { id: second, name: 'Oberon' },
            { id: first, name: 'Umbriel' },
          ]);
          expect((await agent.patch('/moons?q=name==Oberon').send({ name: 'Puck' })).body).to.deep.equal({
            affected: 1,
          });
          expect((await agent.delete('/moons?q=name=in=(Puck,Umbriel)')).body).to.deep.equal({ affected: 2 });
          expect(await kept()).to.deep.equal([
            ['create', first, 'Ariel'],
            ['create', second, 'Miranda'],
            ['update', second, 'Oberon'],
            ['update', first, 'Umbriel'],
            ['update', second, 'Puck'],
            ['delete', first, null],
            ['delete', second, null],
          ]);
        });

        it('keeps each record of an import that is stored', async () => {
          const send = (mode: string, ...rows: readonly object[]) =>
            agent
              .post(`/moons/import?mode=${mode}`)
              .set('Content-Type', 'application/x-ndjson')
              .send(rows.map((row) => JSON.stringify(row)).join('\n'));
          expect((await send('create', { name: 'Ariel' }, { name: 'Puck' })).body.created).to.equal(2);
          const ids = (await kept()).map(([, id]) => id);
          const changes = ids.map((id, at) => ({ id, name: `Moon ${at}` }));
          expect((await send('update', ...changes)).body.updated).to.equal(2);
          expect((await send('create', { name: 'Juliet' }, { nme: '' })).status).to.equal(422);
          expect(await kept()).to.deep.equal([
            ['create', ids[0], 'Ariel'],
            ['create', ids[1], 'Puck'],
            ['update', ids[0], 'Moon 0'],
            ['update', ids[1], 'Moon 1'],
          ]);
        });

        it('keeps nothing of a write that is rolled back, and takes back the write that it refuses', async () => {
          const before = await Moon.count();
          await agent.post('/moons?dry_run=true').send([{ name: 'Ariel' }]);
          expect(
            (await agent.post('/moons').send([{ name: 'Ariel' }, { name: 'unwanted' }])).status,
          ).to.equal(500);
          expect((await agent.post('/moons').send({ name: 'unwanted' })).status).to.equal(500);
          expect((await agent.post('/moons').send([{ name: 'Ariel' }, { name: null }])).status).to.equal(422);
          await expectRejection(new Repository(Moon).create({ name: 'unwanted' }));
          expect(await kept()).to.deep.equal([]);
          expect(await Moon.count()).to.equal(before);
        });

        it('keeps a write once that is sent again under its key', async () => {
          for (const body of [{ name: 'Ariel' }, [{ name: 'Umbriel' }, { name: 'Oberon' }]]) {
            const send = () =>
              agent
                .post('/moons')
                .set('Idempotency-Key', `"${path} ${JSON.stringify(body).length}"`)
                .send(body);
            const first = await send();
            const again = await send();
            expect(first.status).to.equal(201);
            expect(again.headers['idempotent-replayed']).to.equal('true');
            expect(again.text).to.equal(first.text);
          }
          expect((await kept()).map(([, , name]) => name)).to.deep.equal(['Ariel', 'Umbriel', 'Oberon']);
        });

        it('keeps each write of a repository, in its unit of work', async () => {
          const moons = new Repository(Moon);
          const { id } = await moons.create({ name: 'Ariel' });
          await moons.update(id, { name: 'Umbriel' });
          await expectRejection(
            unitOfWork(async (uow) => {
              await moons.with(uow).update(id, { name: 'Puck' });
              throw new TypeError('Not today.');
            }),
          );
          await moons.delete(id);
          expect(await kept()).to.deep.equal([
            ['create', id, 'Ariel'],
            ['update', id, 'Umbriel'],
            ['delete', id, null],
          ]);
        });

        it('keeps what is purged by its age', async () => {
          const [first, second] = await Comet.bulkCreate([{ name: 'Halley' }, { name: 'Encke' }]);
          await Comet.destroy({ where: {} });
          const before = new Date(Date.now() + 60_000);
          expect(await new Repository(Comet).purge({ before, limit: 9 })).to.equal(2);
          expect(await kept('Comet')).to.deep.equal([
            ['purge', first?.id, null],
            ['purge', second?.id, null],
          ]);
        });
      });

      it('stand in the document', () => {
        const { paths } = application.openapi();
        expect(paths['/moons']?.get?.parameters).to.deep.include({
          name: 'search',
          in: 'query',
          required: false,
          description: 'A text that the name has.',
          schema: { type: 'string', minLength: 2 },
        });
        for (const [path, ...media] of [
          ['/suns/newest', 'application/json', 'application/x-ndjson'],
          ['/moons', 'application/json', 'application/x-ndjson'],
          ['/suns/{id}/moons', 'application/json', 'application/x-ndjson'],
          ['/moons/{id}', 'application/json'],
        ] as const) {
          expect(paths[path]?.get?.responses[200], path).to.have.property('content').that.has.all.keys(media);
        }
        expect(paths['/moons']?.post?.responses[201]).to.have.nested.property('headers.X-Trail');
      });
    });
  }
});

async function expectRejection(work: Promise<unknown>): Promise<void> {
  expect(await caughtError(() => work)).to.be.instanceOf(TypeError);
}

@Crud({ endpoints: ['create', 'update', 'delete', 'createMany', 'updateMany'] })
@Table({ tableName: 'meteors', timestamps: false })
class Meteor extends NamedRow {}

/** Served by the first application only. */
@Crud({ endpoints: ['create'] })
@Table({ tableName: 'tails', timestamps: false })
class Tail extends NamedRow {}

class MeteorController extends crudController(Meteor) {
  override async update(id: Id, values: object, context: CrudContext<Meteor>) {
    await new Repository(Meteor).create({ name: 'beside' });
    return super.update(id, values, context);
  }

  @Patch('/:id/name')
  async rename(
    @InjectId() id: number,
    @InjectRepository(Meteor) meteors: Repository<Meteor>,
    @Body() body: object,
  ) {
    await meteors.update(id, body);
    await unitOfWork((uow) => uow.repository(Meteor).update(id, { name: 'again' }));
    return meteors.get(id);
  }
}

@JsonController('/fleets')
class FleetController {
  @Post()
  async launch(@InjectUnitOfWork() uow: UnitOfWork) {
    const { id } = await uow.repository(Meteor).create({ name: 'first' });
    await uow.repository(Tail).create({ name: 'tail' });
    return { id };
  }
}

const SHARED = [Meteor, Tail];
const LOGGER = { debug() {}, info() {}, warn() {}, error() {} };

describe('a model that two applications serve', () => {
  const site = serveTestApp(() => ({ models: SHARED, bootstrap: { models: [] } }));
  let noted: string[] = [];

  const noting =
    (by: string): FeatureFactory =>
    ({ plan: { name } }) => ({
      async afterWrite({ endpoint, records }) {
        for (const { key } of records) noted.push(`${by}: ${endpoint} ${name} ${key}`);
      },
    });

  beforeEach(async () => {
    await emptyTables(site, 'meteors', 'tails');
    noted = [];
  });

  for (const fastPath of [true, false]) {
    describe(`on the ${fastPath ? 'fast' : 'general'} path`, () => {
      let first: ReturnType<typeof supertest>;
      let second: ReturnType<typeof supertest>;

      before(() => {
        const serve = (name: string, models: typeof SHARED) => {
          const controllers = [MeteorController, FleetController];
          const options = { models, controllers, fastPath, indexAdvice: false, logger: LOGGER };
          return supertest(express().use(buildApplication(options, [...FEATURES, noting(name)]).router));
        };
        first = serve('first', SHARED);
        second = serve('second', [Meteor]);
      });

      it('has the features of the application of each request', async () => {
        for (const [name, agent] of [
          ['first', first],
          ['second', second],
          ['first', first],
        ] as const) {
          noted = [];
          const { body } = await agent.post('/meteors').send({ name: 'Halley' });
          await agent.patch(`/meteors/${body.id}`).send({ name: 'Encke' });
          await agent.patch(`/meteors/${body.id}/name`).send({ name: 'Biela' });
          await agent.delete(`/meteors/${body.id}`);
          const { id } = body;
          expect(noted).to.deep.equal(
            [
              `create Meteor ${id}`,
              `create Meteor ${id + 1}`,
              `update Meteor ${id}`,
              `update Meteor ${id}`,
              `update Meteor ${id}`,
              `delete Meteor ${id}`,
            ].map((each) => `${name}: ${each}`),
          );
        }
      });

      it('has them for writes of many records, and at the same time', async () => {
        const write = async (agent: typeof first) => {
          const { body } = await agent.post('/meteors').send([{ name: 'Ariel' }, { name: 'Umbriel' }]);
          const ids = body.items.map(({ id }: Meteor) => id);
          await agent.patch('/meteors').send(ids.map((id: number) => ({ id, name: 'Puck' })));
          return ids as number[];
        };
        const [one, other] = await Promise.all([write(first), write(second)]);
        const of = (by: string) => noted.filter((each) => each.startsWith(by));
        const expected = (by: string, ids: readonly number[]) =>
          ['create', 'update'].flatMap((endpoint) => ids.map((id) => `${by}: ${endpoint} Meteor ${id}`));
        const own = (by: string) => of(by).filter((each) => !each.includes('beside'));
        expect(own('first')).to.include.members(expected('first', one));
        expect(own('second')).to.include.members(expected('second', other));
        for (const id of one) expect(noted.join()).to.not.include(`second: update Meteor ${id}`);
        for (const id of other) expect(noted.join()).to.not.include(`first: update Meteor ${id}`);
      });

      it('has them in hand-written controllers, and those of another application for a model that its own does not serve', async () => {
        const { body } = await second.post('/fleets');
        expect(noted).to.deep.equal([`second: create Meteor ${body.id}`, 'first: create Tail 1']);
      });

      it('has those of the last application where no request writes', async () => {
        const { id } = await new Repository(Meteor).create({ name: 'alone' });
        expect(noted).to.deep.equal([`second: create Meteor ${id}`]);
      });
    });
  }
});
