/** `installExceptionHandlers`, `statusFor` and `httpExceptionFor`, for Express routes that are written by hand. */
import { expect } from 'chai';
import express, { type Express, type RequestHandler } from 'express';
import { HttpError, NotFoundError as MissingRoute } from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  ConcurrentModificationError,
  ConfigError,
  Crud,
  httpExceptionFor,
  InvalidBodyError,
  InvalidQueryError,
  InvalidRequestError,
  installExceptionHandlers,
  MultipleResultsFound,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
  Repository,
  readId,
  statusFor,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { captureStderr } from '../../support/captured-stderr.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {
  @Column({ type: DataType.STRING(20), unique: true }) declare name: string;
}

@Crud({
  idType: (raw) => {
    if (raw === '0') throw new HttpError(410, 'This bridge was torn down.');
    return Number(raw);
  },
})
@Table({ tableName: 'bridges', timestamps: false })
class Bridge extends KeyedRow {}

@Table({ tableName: 'ratios', timestamps: false })
class Ratio extends Model {
  @PrimaryKey @Column(DataType.DOUBLE) declare ratio: number;
}

class Flooded extends PersistenceError {}

const TABLE: readonly (readonly [error: Error, status: number])[] = [
  [new NotFoundError('No such town.'), 404],
  [new MultipleResultsFound('Two such towns.'), 409],
  [new ConcurrentModificationError('Somebody was faster.'), 409],
  [new RelationNotLoaded('The mayor was not loaded.'), 500],
  [new PersistenceError('Something is wrong.'), 500],
  [new Flooded('The town is flooded.'), 500],
];

describe('handling exceptions by hand', () => {
  const site = serveTestApp(() => ({ models: [Town, Bridge, Ratio], bootstrap: { models: [] } }));

  /** An Express application with one route; Express 4 ignores promises, so the route does, too. */
  const serve = (work: () => unknown) => {
    const app: Express = express();
    const route: RequestHandler = (_request, response, next) => {
      Promise.resolve()
        .then(work)
        .then((result) => response.json(result), next);
    };
    app.get('/town', route);
    app.post('/town', express.json(), route);
    app.get('/now', () => {
      throw new NotFoundError('Thrown at once.');
    });
    installExceptionHandlers(app);
    return supertest(app);
  };

  beforeEach(async () => {
    await emptyTables(site, 'towns');
    await Town.create({ name: 'Springfield' });
  });

  for (const [error, status] of TABLE) {
    it(`answers ${status} to a ${error.constructor.name}, and to an HttpError made of it, and logs a 500`, async () => {
      const made = httpExceptionFor(error);
      expect(statusFor(error)).to.equal(status);
      expect(made).to.be.an.instanceOf(HttpError);
      expect(made).to.include({ httpCode: status, message: error.message, cause: error });
      for (const thrown of [error, made]) {
        const agent = serve(() => Promise.reject(thrown));
        const { result, lines } = await captureStderr(() => agent.get('/town'));
        expectProblem(result, status, { detail: error.message });
        const logged = lines.map((line) => JSON.parse(line)).map(({ cause, ...own }) => cause ?? own);
        expect(logged.map((each) => each.error)).to.deep.equal(status === 500 ? [error.name] : []);
      }
    });
  }

  const reason = 'hidden reason';
  for (const thrown of [new Error(reason), new MissingRoute(reason), reason, null, undefined]) {
    it(`takes ${String(thrown)} for a failure that is nobody's business`, () => {
      expect(statusFor(thrown)).to.equal(500);
      expect(httpExceptionFor(thrown)).to.include({ httpCode: 500, message: 'Internal Server Error' });
    });
  }

  it('answers the problems of a request that your code refuses, one by one', async () => {
    const issue = { code: 'flooded', detail: 'This town is flooded.' };
    const inBody = { pointer: '/name', ...issue };
    const body = serve(() => {
      throw new InvalidBodyError([inBody]);
    });
    expectProblem(await body.post('/town'), 422, { detail: issue.detail, errors: [inBody] });
    const inQuery = ['from', 'until'].map((parameter) => ({ parameter, ...issue }));
    const query = serve(() => {
      throw new InvalidQueryError(inQuery);
    });
    expectProblem(await query.get('/town'), 400, { detail: 'The request has 2 problems.', errors: inQuery });
    const error = new InvalidBodyError([inBody]);
    expect(error).to.be.instanceOf(InvalidRequestError).with.property('status', 422);
  });

  it('reads ids as the generated routes do', async () => {
    const towns = new Repository(Town);
    const read = async (id: string) => (await towns.get(readId(Town, id))).name;
    expectJson(await serve(() => read('1')).get('/town'), 200, 'Springfield');
    const detail = "'1e0' is not a valid id; it must be an integer.";
    expectIssue(await serve(() => read('1e0')).get('/town'), 400, { parameter: 'id', code: 'id', detail });
    const missing = { detail: 'There is no Town with this id.' };
    expectProblem(await serve(() => read('99999999999')).get('/town'), 404, missing);
    class Stray extends Model {}
    expect(() => readId(Stray, '1')).to.throw(ConfigError, 'Stray is not attached');
  });

  it('reads ids as the idType of the model says, and none of a key that needs one', async () => {
    expectJson(await serve(() => readId(Bridge, '1e1')).get('/town'), 200, 10);
    const gone = { detail: 'This bridge was torn down.' };
    expectProblem(await serve(() => readId(Bridge, '0')).get('/town'), 410, gone);
    const detail = "'x' is not a valid id; it must be one that this resource accepts.";
    const wrong = await serve(() => readId(Bridge, 'x')).get('/town');
    expectIssue(wrong, 400, { parameter: 'id', code: 'id', detail });
    expect(() => readId(Ratio, '0.5')).to.throw(
      ConfigError,
      "Ratio: the primary key 'ratio' is of type float, which no path segment can hold; give @Crud an idType function",
    );
  });

  it('answers what a repository throws, and what the database refuses', async () => {
    const towns = new Repository(Town);
    await Town.bulkCreate([{ name: null }, { name: null }]);
    const missing = 'There is no Town with this id.';
    for (const [work, status, detail] of [
      [() => towns.get(9), 404, missing],
      [() => towns.one({ name: 'Shelbyville' }), 404, missing],
      [() => towns.update(9, {}), 404, missing],
      [() => towns.delete(9), 404, missing],
      [() => towns.one({ name: null }), 409, 'There is more than one such Town.'],
      [() => Town.create({ name: 'x'.repeat(21) }), 422, 'The database does not accept these values.'],
    ] as const)
      expectProblem(await serve(work).get('/town'), status, { detail });
    const detail = 'Another Town has the same name.';
    const twice = await serve(() => Town.create({ name: 'Springfield' })).get('/town');
    expectIssue(twice, 409, { pointer: '/name', code: 'unique', detail });
  });

  it('answers errors of Express and its parsers', async () => {
    const agent = serve(() => ({}));
    const malformed = { pointer: '', code: 'malformed', detail: 'The body is not valid JSON.' };
    expectIssue(await agent.post('/town').type('json').send('{"secret":'), 400, malformed);
    expectProblem(await agent.get('/now'), 404, { detail: 'Thrown at once.' });
  });

  it('logs a failure as one line of JSON, with the route and without the path', async () => {
    const agent = serve(() => Town.findAll({ where: { nothing: 1 } }));
    const { result, lines } = await captureStderr(() => agent.get('/town?secret=1'));
    expectProblem(result, 500, { detail: 'Internal Server Error' });
    expect(lines).to.have.lengthOf(1);
    const { stack, requestId, time, ...line } = JSON.parse(String(lines[0]));
    expect(new Date(time).toISOString()).to.equal(time);
    expect(stack).to.match(/^ +at /);
    expect(requestId).to.equal(result.headers['x-request-id']);
    expect(line).to.deep.equal({
      level: 'error',
      message: 'GET /town failed',
      status: 500,
      error: 'SequelizeDatabaseError',
      code: '42703',
      reason: 'column Town.nothing does not exist',
      routine: 'errorMissingColumn',
    });
  });

  it('leaves good answers and unknown paths alone', async () => {
    const agent = serve(() => ({ fine: true }));
    expectJson(await agent.get('/town'), 200, { fine: true });
    const unknown = await agent.get('/village');
    expect(unknown.status).to.equal(404);
    expect(unknown.headers['content-type']).to.match(/^text\/html/);
  });
});
