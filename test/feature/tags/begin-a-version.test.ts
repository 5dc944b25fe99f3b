/** Rows without a version, as a column that was added to a table leaves them: they have a tag of their own, and begin to count. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectNothing, expectProblem, tagOf } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const ENDPOINTS = ['list', 'read', 'create', 'update', 'replace', 'delete', 'restore', 'purge'] as const;
const COUNTED = { createdAt: false, updatedAt: false, paranoid: true, version: true } as const;

class Kept extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
}

@Crud({ prefix: '/sheets', endpoints: [...ENDPOINTS] })
@Table({ ...COUNTED, tableName: 'sheets' })
class Sheet extends Kept {}

/** Its hooks have Sequelize write it on either path. */
@Crud({ prefix: '/hooked', endpoints: [...ENDPOINTS], ifMatch: 'required' })
@Table({ ...COUNTED, tableName: 'hooked', hooks: { beforeUpdate() {}, beforeDestroy() {} } })
class Hooked extends Kept {}

/** They declare their version, as existing tables have it: it may be NULL, or have a default of the table's own. */
@Crud({ prefix: '/declared', endpoints: ['read', 'create'] })
@Table({ tableName: 'declared', timestamps: false, version: 'lock' })
class Declared extends Kept {
  @Column({ type: DataType.INTEGER, field: 'lock no' }) declare lock: number | null;
}

@Crud({ prefix: '/declared-hooked', endpoints: ['read', 'create'] })
@Table({ tableName: 'declared', timestamps: false, version: 'lock', hooks: { beforeCreate() {} } })
class DeclaredHooked extends Kept {
  @Column({ type: DataType.INTEGER, field: 'lock no' }) declare lock: number | null;
}

@Crud({ prefix: '/many', endpoints: ['list', 'createMany', 'updateMany'], filterAllow: ['text'] })
@Table({ ...COUNTED, tableName: 'many' })
class Many extends Kept {}

/** A table whose rows have no version, and what sends requests with a tag. */
async function start(models: readonly (typeof Kept)[]): Promise<TestApp> {
  const site = await startTestApp({ models, bootstrap: { indexAdvice: false } });
  for (const { tableName } of models)
    await site.engine.sequelize.query(
      `ALTER TABLE ${tableName} ALTER version DROP NOT NULL, ALTER version DROP DEFAULT`,
    );
  return site;
}

async function fill({ engine }: TestApp, tables: readonly string[]): Promise<void> {
  for (const table of tables)
    await engine.sequelize.query(
      `TRUNCATE ${table}; INSERT INTO ${table} (id, text) VALUES (1, 'a'), (2, 'b');
       INSERT INTO ${table} (id, text, version) VALUES (3, 'c', 0)`,
    );
}

describe('a row without a version', () => {
  const site = forSuite(() => start([Sheet, Hooked]));

  beforeEach(() => fill(site, ['sheets', 'hooked']));

  for (const [name, tableName] of [
    ['Sheet', 'sheets'],
    ['Hooked', 'hooked'],
  ] as const) {
    const path = `/${tableName}/1`;
    const changed = { detail: `The ${name} has been changed since; read it again, and repeat the change.` };
    const send = (tag: string, text: string) => site.agent.patch(path).set('If-Match', tag).send({ text });

    it(`[P9] has a tag of its own until it is written: ${name}`, async () => {
      const read = await site.agent.get(path);
      expect(tagOf(read)).to.equal('"null"');
      expect(read.body).to.deep.equal({ id: 1, text: 'a', deletedAt: null, version: null });
      const again = await site.agent.get(path).set('If-None-Match', String(read.headers['etag']));
      expect(again.status).to.equal(304);
      for (const tag of ['"0"', '"1"', '"nonsense"', '"x7"', '"0", "odd"']) {
        const refused = await send(tag, 'no');
        expectProblem(refused, 412, changed);
        expect(tagOf(refused)).to.equal('"null"');
      }
      const first = await send('"null"', 'first');
      expect(tagOf(first)).to.equal('"1"');
      expect(first.body).to.deep.equal({ id: 1, text: 'first', deletedAt: null, version: 1 });
      const stale = await send('"null"', 'second');
      expectProblem(stale, 412, changed);
      expect(tagOf(stale)).to.equal('"1"');
      expect((await send('"null", "1"', 'second')).body).to.include({ version: 2 });
    });

    it(`is written whatever its state, where the request says so: ${name}`, async () => {
      expect(tagOf(await send('*', 'any'))).to.equal('"1"');
      const nothing = await site.agent.patch(`/${tableName}/2`).set('If-Match', '"null"').send({ text: 'b' });
      expect(tagOf(nothing), 'nothing is written').to.equal('"null"');
    });

    it(`is replaced, deleted, restored and purged by its tag: ${name}`, async () => {
      const { agent } = site;
      const at = (id: number, end = '') => `/${tableName}/${id}${end}`;
      expectProblem(await agent.put(at(1)).set('If-Match', '"0"').send({ text: 'x' }), 412, changed);
      const replaced = await agent.put(at(1)).set('If-Match', '"null"').send({ text: 'x' });
      expect(replaced.status).to.equal(200);
      expect(tagOf(replaced)).to.equal('"1"');
      expectProblem(await agent.delete(at(2)).set('If-Match', '"0"'), 412, changed);
      expectNothing(await agent.delete(at(2)).set('If-Match', '"null"'), 204);
      const [[row]] = await site.engine.sequelize.query(`SELECT version FROM ${tableName} WHERE id = 2`);
      const tag = `"${(row as { version: number | null }).version}"`;
      expectProblem(await agent.delete(at(2, '/purge')).set('If-Match', '"7"'), 412, changed);
      expectProblem(await agent.post(at(2, '/restore')).set('If-Match', '"7"'), 412, changed);
      const restored = await agent.post(at(2, '/restore')).set('If-Match', tag);
      expect(restored.status).to.equal(200);
      expect(restored.body.version).to.be.a('number');
    });
  }

  it('is told from others: no tag of it fits a row that counts', async () => {
    const refused = await site.agent.patch('/sheets/3').set('If-Match', '"null"').send({ text: 'no' });
    expectProblem(refused, 412, {
      detail: 'The Sheet has been changed since; read it again, and repeat the change.',
    });
    expect(tagOf(refused)).to.equal('"0"');
  });
});

describe('a new row with a declared version', () => {
  for (const [what, column, lock] of [
    ['without a default', '"lock no" int', null],
    ['with a default of its table', '"lock no" int DEFAULT 7', 7],
  ] as const) {
    it(`${what} is answered as it is read`, async () => {
      await using site = await startTestApp({
        models: [Declared, DeclaredHooked],
        engine: { createAll: false },
        bootstrap: { indexAdvice: false, models: [], logger: new CapturedLog() },
      });
      await site.engine.sequelize.query(
        `CREATE TABLE declared (id int PRIMARY KEY, text varchar(20) NOT NULL, ${column})`,
      );
      const { agent } = await buildApp({ models: [Declared, DeclaredHooked], indexAdvice: false });
      for (const [id, path] of ['/declared', '/declared-hooked'].entries()) {
        const made = await agent.post(path).send({ id, text: 'new' });
        expect([made.status, made.body]).to.deep.equal([201, { id, text: 'new', lock }]);
        expect(tagOf(made)).to.equal(`"${lock}"`);
        expect((await agent.get(`${path}/${id}`)).body).to.deep.equal(made.body);
      }
    });
  }
});

except(OF_MANY).describe('rows without a version', () => {
  const site = forSuite(() => start([Many]));

  beforeEach(() => fill(site, ['many']));

  it('are changed in arrays, by the version null', async () => {
    const change = (first: number | null, third: number | null) =>
      site.agent.patch('/many').send([
        { id: 1, version: first, text: 'x' },
        { id: 3, version: third, text: 'x' },
      ]);
    const detail = 'The Many has been changed since; read it again, and repeat the change.';
    const refusal = (item: number) => ({
      detail,
      errors: [{ pointer: `/${item}`, code: 'changed', detail }],
    });
    expectProblem(await change(0, 0), 412, refusal(0));
    expectProblem(await change(null, null), 412, refusal(1));
    expect((await change(null, 0)).body.items).to.deep.equal([
      { id: 1, text: 'x', deletedAt: null, version: 1 },
      { id: 3, text: 'x', deletedAt: null, version: 1 },
    ]);
  });

  it('begin to count where q finds them', async () => {
    const written = await site.agent.patch('/many?q=text!=none').send({ text: 'y' });
    expect(written.body).to.deep.equal({ affected: 3 });
    const [rows] = await site.engine.sequelize.query('SELECT version FROM many ORDER BY id');
    expect(rows).to.deep.equal([{ version: 1 }, { version: 1 }, { version: 1 }]);
  });
});
