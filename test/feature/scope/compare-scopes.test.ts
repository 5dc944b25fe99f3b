/** Random scopes, conditions and filters on random models: the rows that meet all of them, each once, whoever runs the SQL. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { QueryTypes } from 'sequelize';
import type { ModelClass } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { throughRecords } from '../../support/combination-controllers.js';
import { NAMES, print, ROWS } from '../../support/filter-arbitrary.js';
import { type Listening, listen } from '../../support/listen.js';
import {
  asked,
  expected,
  isDeleted,
  MODELS,
  type Question,
  questionArbitrary,
  Whole,
} from '../../support/random-scopes.js';
import { serveTestApp } from '../../support/test-app.js';
import { ask } from '../../support/two-paths.js';

/** Milliseconds for all random questions of a configuration. */
const TIME = 2_500;
const HOOKS = ['afterFind', 'beforeCount', 'beforeBulkDestroy'] as const;

const CHANGED = `
  SELECT copies.id FROM copies LEFT JOIN samples USING (id)
  WHERE samples.id IS NULL OR samples."deletedAt" IS DISTINCT FROM copies."deletedAt"`;

describe('comparing scopes with their meaning', () => {
  after(async () => {
    for (const runner of runners.values()) await runner[Symbol.asyncDispose]();
  });

  const models = [Whole as unknown as ModelClass, ...MODELS];
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models, bootstrap: { models: [] }, engine: { createAll: false } }));
  const runners = new Map<string, Listening>();

  before(async () => {
    await Whole.sync();
    const { sequelize } = site.engine;
    await sequelize.query('ALTER TABLE samples ALTER "the text" TYPE text COLLATE "C"');
    const literal = (value: string | null | undefined) => (value == null ? 'NULL' : sequelize.escape(value));
    const tuples = ROWS.map((row, id) => {
      const values = [`${id}`, isDeleted(id) ? 'now()' : 'NULL', ...NAMES.map((name) => literal(row[name]))];
      return `(${values})`;
    });
    const columns = NAMES.map((name) => `"the ${name}"`);
    await sequelize.query(`INSERT INTO samples (id, "deletedAt", ${columns}) VALUES ${tuples}`);
    await sequelize.query('CREATE TABLE copies AS SELECT * FROM samples');
    const built = {
      'rows of ours': await buildApp({ models: MODELS, logger, fastPath: true }),
      records: await buildApp({
        models: MODELS,
        logger,
        fastPath: true,
        controllers: MODELS.map(throughRecords),
      }),
      Sequelize: await buildApp({ models: MODELS, logger, fastPath: false }),
    };
    for (const [name, { app }] of Object.entries(built)) runners.set(name, await listen(app));
  });

  async function get(runner: Listening, path: string) {
    const { status, body } = await ask(runner, { path, headers: { rules: 'now' } });
    return { status, json: JSON.parse(body) };
  }

  /** The keys of all pages, and the total where there is one. */
  async function walk(runner: Listening, { shape, q, sort, size }: Question) {
    const query = new URLSearchParams({
      size: `${size}`,
      ...(q ? { q: print(q) } : {}),
      ...(sort.length > 0 ? { sort: `${sort}` } : {}),
    });
    const ids: number[] = [];
    for (let page = 1; ; page += 1) {
      if (shape.pagination === 'offset') query.set('page', `${page}`);
      const { status, json } = await get(runner, `${shape.prefix}?${query}`);
      expect(status, JSON.stringify(json)).to.equal(200);
      ids.push(...json.items.map((item: { id: number }) => item.id));
      if (shape.pagination === 'offset' && page * size >= json.total)
        return { ids, total: json.total as number };
      if (shape.pagination === 'cursor' && json.next_cursor === null) return { ids, total: ids.length };
      if (json.next_cursor) query.set('after', json.next_cursor);
    }
  }

  /** The status, and which rows are not as they were; they are put back. */
  async function deleteRow(runner: Listening, { shape, id }: Question): Promise<number[]> {
    const { sequelize } = site.engine;
    const path = `${shape.prefix}/${id}`;
    const { status } = await ask(runner, { method: 'DELETE', path, headers: { rules: 'now' } });
    const changed = await sequelize.query<{ id: number }>(CHANGED, { type: QueryTypes.SELECT });
    for (const row of changed) {
      await sequelize.query(`DELETE FROM samples WHERE id = ${row.id}`);
      await sequelize.query(`INSERT INTO samples SELECT * FROM copies WHERE id = ${row.id}`);
    }
    return [status, ...changed.map((row) => row.id)];
  }

  it('finds the same rows, and deletes no others', async () => {
    let found = 0;
    const { sequelize } = site.engine;
    const property = fc.asyncProperty(questionArbitrary, async (question) => {
      asked.set('now', question);
      const ids = expected(question);
      const isThere = expected({ ...question, q: null }).includes(question.id);
      const orders = new Set<string>();
      for (const [name, runner] of runners) {
        for (const hook of HOOKS) if (name === 'Sequelize') sequelize.addHook(hook, 'idle', () => {});
        const walked = await walk(runner, question);
        const { status } = await get(runner, `${question.shape.prefix}/${question.id}`);
        const gone = await deleteRow(runner, question);
        for (const hook of HOOKS) sequelize.removeHook(hook, 'idle');
        expect(gone, name).to.deep.equal(isThere ? [204, question.id] : [404]);
        expect(
          [...walked.ids].sort((a, b) => a - b),
          name,
        ).to.deep.equal(ids);
        expect([walked.total, status], name).to.deep.equal([ids.length, isThere ? 200 : 404]);
        orders.add(`${walked.ids}`);
      }
      expect([...orders]).to.have.length(1);
      if (ids.length > 0) found += 1;
    });
    await fc.assert(property, {
      numRuns: 2_000,
      interruptAfterTimeLimit: TIME,
      markInterruptAsFailure: false,
    });
    expect(found, 'questions with an answer').to.be.above(0);
  });
});
