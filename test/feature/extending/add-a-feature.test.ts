/** A capability in one file: two inputs and a header for each kind of operation, which the document describes. */
// @runs fast
import { expect } from 'chai';
import express from 'express';
import { Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { buildApplication } from '../../../src/bootstrap.js';
import { ENDPOINTS, type Endpoint } from '../../../src/declare/crud-options.js';
import { FEATURES } from '../../../src/features/features.js';
import { Crud, type CrudApplication, crudController } from '../../../src/index.js';
import type { Feature, FeatureFactory, Input } from '../../../src/operation/feature.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson } from '../../support/expect-answer.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';

// ── The feature, as its author would write it ──

function flag(place: Input['in'], name: string): Input {
  return {
    in: place,
    name,
    member: place === 'query' ? 'countsRows' : 'countsRowsByHeader',
    endpoints: ENDPOINTS,
    absent: false,
    read(text, { issues }) {
      if (text === 'true' || text === 'false') return text === 'true';
      issues.push({ parameter: name, code: 'boolean', detail: `${name} accepts true and false.` });
      return false;
    },
    describe: () => ({ description: 'Whether `X-Row-Count` is sent.', schema: { type: 'boolean' } }),
  };
}

function each<T>(value: T): Record<Endpoint, T> {
  return Object.fromEntries(ENDPOINTS.map((name) => [name, value])) as Record<Endpoint, T>;
}

/** `X-Row-Count`: the number of rows that were found or written; off for models without an order. */
const rowCount: FeatureFactory = ({ plan }): Feature | null => {
  if (plan.sortable.length === 0) return null;
  return {
    inputs: [flag('query', 'count_rows'), flag('header', 'X-Count-Rows')],
    present: each((draft, { inputs, count }) => {
      if (!inputs['countsRows'] && !inputs['countsRowsByHeader']) return draft;
      return { ...draft, headers: { ...draft.headers, 'X-Row-Count': String(count) } };
    }),
    headers: each({
      'X-Row-Count': { description: 'How many rows were found or written.', schema: { type: 'integer' } },
    }),
  };
};

/** 202 for a create whose record somebody has yet to look at. */
const pending: FeatureFactory = () => ({
  present: {
    create: (draft, _result, request) =>
      request.get('x-pending') === undefined ? draft : { ...draft, status: 202 },
  },
});

// ── What they do ──

@Crud()
@Table({ tableName: 'stars', timestamps: false })
class Star extends NamedRow {}

@Crud({ sortAllow: [] })
@Table({ tableName: 'clouds', timestamps: false })
class Cloud extends NumberedRow {}

const MODELS = [Star, Cloud];

describe('a feature of one file', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { models: [] } }));

  const seed = async () => {
    await emptyTables(site, 'stars', 'clouds');
    await Star.bulkCreate([{ name: 'Vega' }, { name: 'Rigel' }, { name: 'Spica' }]);
  };

  beforeEach(seed);

  for (const [path, options] of [
    ['the fast path', { fastPath: true }],
    ['the general path', { fastPath: false }],
    ['the path of an override', { fastPath: true, controllers: [passingController(crudController(Star))] }],
  ] as const) {
    describe(`on ${path}`, () => {
      let application: CrudApplication;
      let agent: ReturnType<typeof supertest>;

      before(() => {
        const { controllers = [], fastPath } = { controllers: undefined, ...options };
        const built = buildApplication({ models: MODELS, controllers, fastPath }, [
          ...FEATURES,
          rowCount,
          pending,
        ]);
        ({ application } = built);
        agent = supertest(express().use(built.router));
      });

      it('is asked there', () => {
        const { generalPathReasons } = application.routes.find(({ path }) => path === '/stars/:id') ?? {};
        expect(generalPathReasons).to.deep.equal(
          {
            'the fast path': [],
            'the general path': ['fastPath is false'],
            'the path of an override': [],
          }[path],
        );
      });

      it('adds to a list, to a page of some rows and to one of none', async () => {
        const whole = await agent.get('/stars?count_rows=true&fields=name');
        expect(whole.headers['x-row-count']).to.equal('3');
        expect(whole.body.items).to.deep.equal([{ name: 'Vega' }, { name: 'Rigel' }, { name: 'Spica' }]);
        expect((await agent.get('/stars?size=2&count_rows=true')).headers['x-row-count']).to.equal('2');
        expect((await agent.get('/stars?page=9&count_rows=true')).headers['x-row-count']).to.equal('0');
      });

      for (const [method, target, status, body] of [
        ['get', '/stars/1', 200, { id: 1, name: 'Vega' }],
        ['post', '/stars', 201, { id: 4, name: 'Mira' }],
        ['patch', '/stars/1', 200, { id: 1, name: 'Mira' }],
        ['delete', '/stars/1', 204, {}],
      ] as const) {
        it(`adds to ${method.toUpperCase()} ${target}, by a parameter or a header, where it is asked to`, async () => {
          const sent = method === 'get' ? undefined : { name: 'Mira' };
          for (const [query, header, count] of [
            ['?count_rows=true', 'false', '1'],
            ['?count_rows=false', 'true', '1'],
            ['?count_rows=false', 'false', undefined],
          ] as const) {
            await seed();
            const answer = await agent[method](target + query)
              .set('X-Count-Rows', header)
              .send(sent);
            expect([answer.status, answer.body]).to.deep.equal([status, body]);
            expect(answer.headers['x-row-count'], `${query} ${header}`).to.equal(count);
          }
        });
      }

      it('leaves a create its Location, and may set another status', async () => {
        const answer = await agent
          .post('/stars?count_rows=true')
          .set('x-pending', '1')
          .send({ name: 'Deneb' });
        expectJson(answer, 202, { id: 4, name: 'Deneb' });
        expect(answer.headers).to.include({ 'x-row-count': '1', location: '/stars/4' });
      });

      it('adds nothing to a list that does not ask for it, or to a problem', async () => {
        const answers = [await agent.get('/stars'), await agent.get('/stars/999?count_rows=true')];
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 404]);
        for (const { headers } of answers) expect(headers).to.not.have.property('x-row-count');
      });

      it('refuses what its readers refuse, before anything is written', async () => {
        expectIssue(await agent.delete('/stars/1?count_rows=yes'), 400, {
          parameter: 'count_rows',
          code: 'boolean',
          detail: 'count_rows accepts true and false.',
        });
        expectIssue(await agent.post('/stars').set('X-Count-Rows', '1').send({ name: 'Deneb' }), 400, {
          parameter: 'X-Count-Rows',
          code: 'boolean',
          detail: 'X-Count-Rows accepts true and false.',
        });
        expect(await Star.count()).to.equal(3);
      });

      it('is named among the parameters', async () => {
        expectIssue(await agent.get('/stars?count_row=true'), 400, {
          parameter: 'count_row',
          code: 'unknown',
          detail:
            "This route has no parameter 'count_row'. Did you mean 'count_rows'? " +
            'It accepts page, size, sort, q, fields, count_rows.',
        });
      });

      it('is not there where it is off', async () => {
        expectIssue(await agent.get('/clouds/1?count_rows=true'), 400, {
          parameter: 'count_rows',
          code: 'unknown',
          detail: "This route has no parameter 'count_rows'. It accepts fields.",
        });
        expect((await agent.post('/clouds').set('X-Count-Rows', '1').send({})).status).to.equal(201);
      });

      it('is in the document, parameters and header, where it is on', () => {
        const { paths } = application.openapi();
        const parameters = ['count_rows', 'X-Count-Rows'].map((name) => ({
          name,
          in: name === 'count_rows' ? 'query' : 'header',
          required: false,
          description: 'Whether `X-Row-Count` is sent.',
          schema: { type: 'boolean' },
        }));
        for (const [template, method, status] of [
          ['/stars', 'get', 200],
          ['/stars', 'post', 201],
          ['/stars/{id}', 'get', 200],
          ['/stars/{id}', 'patch', 200],
          ['/stars/{id}', 'delete', 204],
        ] as const) {
          const operation = paths[template]?.[method];
          expect(operation?.parameters?.slice(-2)).to.deep.equal(parameters);
          expect(operation?.responses[status])
            .to.have.nested.property('headers.X-Row-Count')
            .that.deep.equals({
              description: 'How many rows were found or written.',
              schema: { type: 'integer' },
            });
        }
        expect(JSON.stringify([paths['/clouds'], paths['/clouds/{id}']])).to.not.match(
          /row-?count|count_?rows/i,
        );
      });
    });
  }
});
