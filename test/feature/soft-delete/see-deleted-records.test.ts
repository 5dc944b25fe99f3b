/** Soft-deleted records in lists and reads: `deleted=only` and `deleted=with`, for requests that `can.deleted` allows. */
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  InjectListQuery,
  type ListQuery,
  NotFoundError,
  type ReadQuery,
  Repository,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { onPath, UNGUARDED } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

let asked: string[] = [];

@Crud({ subresources: { papers: UNGUARDED }, include: { papers: UNGUARDED } })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @HasMany(() => Paper) declare papers?: Paper[];
}

@Crud({
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
  can: {
    deleted: (request) => {
      asked.push(request.url);
      return request.get('x-clerk') === 'yes';
    },
  },
  filterAllow: ['title'],
  sortAllow: ['title'],
  count: true,
  include: { lines: UNGUARDED },
})
@Table({ tableName: 'papers', paranoid: true, version: true, timestamps: true })
class Paper extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number;
  @HasMany(() => Line) declare lines?: Line[];
}

/** Paranoid, and without the rule. */
@Crud({ unknownQuery: 'ignore' })
@Table({ tableName: 'lines', paranoid: true })
class Line extends NumberedRow {
  @ForeignKey(() => Paper) @Column(DataType.INTEGER) declare paperId: number;
  @BelongsTo(() => Paper) declare paper?: Paper;
}

const ALIVE = new Date(0);

/** A row that is not deleted has another moment than none. */
@Crud({ can: { deleted: true }, endpoints: ['list', 'read', 'delete', 'restore', 'purge'] })
@Table({ tableName: 'odds', paranoid: true, updatedAt: false, createdAt: false })
class Odd extends KeyedRow {
  @Column({ type: DataType.DATE, field: 'gone_at', defaultValue: ALIVE }) declare deletedAt: Date;
}

const UNKNOWN = 'unknown';
/** Expects one problem, with these members. */
function expectFault({ status, body }: Response, fault: object): void {
  expect(status).to.equal(400);
  expect(body.errors).to.have.lengthOf(1);
  expect(body.errors[0]).to.deep.include(fault);
}

const titles = (response: Response) => response.body.items.map(({ title }: Paper) => title);

describe('soft-deleted records of a list and a read', () => {
  const site = serveTestApp(() => ({ models: [Shelf, Paper, Line, Odd], minPool: 2 }));
  const get = (path: string, clerk = true) => {
    const request = site.agent.get(path);
    return clerk ? request.set('x-clerk', 'yes') : request;
  };

  beforeEach(async () => {
    await emptyTables(site, 'shelves', 'papers', 'lines', 'odds');
    await Shelf.create({ id: 1 });
    await Paper.bulkCreate([
      { tenant: 1, title: 'alpha', shelfId: 1 },
      { tenant: 1, title: 'beta', shelfId: 1 },
      { tenant: 1, title: 'gamma', shelfId: 1 },
      { tenant: 2, title: '~foreign', shelfId: 1 },
      { tenant: 1, title: 'delta', shelfId: 1 },
    ]);
    await Line.bulkCreate([{ paperId: 2 }, { paperId: 2 }, { paperId: 1 }]);
    await Line.destroy({ where: { id: 2 } });
    await Paper.destroy({ where: { id: [2, 3, 4] } });
    asked = [];
  });

  /** With our SQL, and then through Sequelize. */
  async function onBothPaths(test: () => Promise<void>): Promise<void> {
    await test();
    using _idle = addedHook(Paper, 'beforeFind');
    await test();
  }

  it('[S7] are listed alone, with the others, or not', () =>
    onBothPaths(async () => {
      expect(titles(await get('/papers'))).to.deep.equal(['alpha', 'delta']);
      expect(titles(await get('/papers?deleted=only'))).to.deep.equal(['beta', 'gamma']);
      expect(titles(await get('/papers?deleted=with'))).to.deep.equal(['alpha', 'beta', 'gamma', 'delta']);
      expect(titles(await get('/papers?d%65leted=only&sort=-title'))).to.deep.equal(['gamma', 'beta']);
    }));

  it('are counted, filtered, sorted and cut as others are', () =>
    onBothPaths(async () => {
      const page = await get(
        '/papers?deleted=with&q=title=out=(alpha)&sort=-title&size=2&page=1&fields=title',
      );
      expect(page.body).to.include({ total: 3, total_is: 'exact', has_next: true });
      expect(page.body.items).to.deep.equal([{ title: 'gamma' }, { title: 'delta' }]);
      expect((await get('/papers?deleted=only&size=1&count=capped')).body).to.include({ total: 2 });
    }));

  it('[S16] have the relations that others have, none of which is deleted', () =>
    onBothPaths(async () => {
      const { body } = await get('/papers/2?deleted=only&include=lines&fields=id');
      expect(body.lines.items.map(({ id }: Line) => id)).to.deep.equal([1]);
      const all = await get('/papers?deleted=with&include=lines&fields=id');
      expect(
        all.body.items.map(({ lines }: { lines: { items: Line[] } }) => lines.items.length),
      ).to.deep.equal([1, 1, 0, 0]);
      const shelf = await get('/shelves/1?include=papers');
      expect(shelf.body.papers.items.map(({ title }: Paper) => title)).to.deep.equal(['alpha', 'delta']);
    }));

  it('[S7] are read by their key', () =>
    onBothPaths(async () => {
      const missing = { detail: 'There is no Paper with this id.' };
      expectProblem(await get('/papers/2'), 404, missing);
      expect((await get('/papers/2?deleted=only')).body).to.include({ title: 'beta' });
      expect((await get('/papers/2?deleted=with')).body).to.include({ title: 'beta' });
      expectProblem(await get('/papers/1?deleted=only'), 404, missing);
      expect((await get('/papers/1?deleted=with')).body).to.deep.equal((await get('/papers/1')).body);
      for (const deleted of ['only', 'with'])
        expectProblem(await get(`/papers/4?deleted=${deleted}`), 404, missing);
      expect((await get('/papers/4?deleted=only').set('x-tenant', '2')).body).to.include({
        title: '~foreign',
      });
    }));

  it('are in a list under a record, where the rule of their own resource allows it', () =>
    onBothPaths(async () => {
      expect(titles(await get('/shelves/1/papers'))).to.deep.equal(['alpha', 'delta']);
      expect(titles(await get('/shelves/1/papers?deleted=only'))).to.deep.equal(['beta', 'gamma']);
      expect((await get('/shelves/1/papers?deleted=with')).body.total).to.equal(4);
      expectFault(await get('/shelves/1/papers?deleted=only', false), { code: UNKNOWN });
    }));

  it('[S3] are of a parameter that nobody else knows', async () => {
    const unknown = (response: Response, name: string) =>
      expectFault(response, { parameter: name, code: UNKNOWN });
    for (const path of ['/papers', '/papers/2', '/papers/99', '/shelves/1/papers']) {
      const deleted = await get(`${path}?deleted=only`, false);
      const other = await get(`${path}?delxxxd=only`, false);
      unknown(deleted, 'deleted');
      expect(deleted.text).to.equal(other.text.replaceAll('delxxxd', 'deleted'));
      expect(deleted.text).to.not.include('Did you mean');
      unknown(await get(`${path}?deletd=only`, false), 'deletd');
      expect((await get(`${path}?deletd=only`, false)).text).to.not.include("'deleted'");
      unknown(await get(`${path}?deleted=nonsense`, false), 'deleted');
    }
    expect((await get('/papers?deleted=only', false)).body.errors[0].detail).to.match(
      /^This route has no parameter 'deleted'. It accepts page, size, [^']*\.$/,
    );
    expect((await get('/shelves?deleted=only')).body.errors[0].code).to.equal(UNKNOWN);
    // Where unknown parameters are ignored, `deleted` is ignored, too.
    expect((await get('/lines?deleted=only')).body.total).to.equal(2);
    for (const method of ['post', 'patch', 'delete'] as const) {
      const path = method === 'post' ? '/papers' : '/papers/1';
      const refused = await site.agent[method](`${path}?deleted=with`).set('x-clerk', 'yes').send({});
      expectFault(refused, { code: UNKNOWN });
    }
  });

  it('[S7] are asked for in one of two words', async () => {
    for (const path of ['/papers', '/papers/1', '/shelves/1/papers']) {
      expectFault(await get(`${path}?deleted=onli`), {
        parameter: 'deleted',
        code: 'deleted.unknown',
        detail: "Parameter 'deleted' is 'onli'; it accepts only, with. Did you mean 'only'?",
        allowed: ['only', 'with'],
      });
      expectFault(await get(`${path}?deleted=`), { parameter: 'deleted' });
      expectFault(await get(`${path}?deleted=only&deleted=with`), { code: 'repeated' });
    }
  });

  it('[S8] ask the rule once, and only where the parameter is there', async () => {
    await get('/papers?q=title==deleted');
    await get('/papers/1');
    await get('/shelves/1/papers');
    await get('/shelves/1?include=papers');
    expect(asked).to.deep.equal([]);
    await get('/papers?deleted=with');
    await get('/papers/2?deleted=with', false);
    await get('/shelves/1/papers?deleted=only');
    expect(asked).to.have.lengthOf(3);
  });

  it('have tags of their own, by which caches know them and writes find them', async () => {
    const alive = await get('/papers/1');
    const tag = String(alive.headers['etag']);
    await site.agent.delete('/papers/1');
    const gone = await get('/papers/1?deleted=with').set('if-none-match', tag);
    expect(gone.status).to.equal(200);
    expect(gone.headers['etag'])
      .to.match(/^"0\..+"$/)
      .and.not.equal(tag);
    const again = await get('/papers/1?deleted=only').set('if-none-match', String(gone.headers['etag']));
    expect(again.status).to.equal(onPath({ fast: 304, values: 200 }));
    await Paper.update({ deletedAt: new Date(5) }, { where: { id: 1 }, paranoid: false, silent: true });
    const moved = await get('/papers/1?deleted=only').set('if-none-match', String(gone.headers['etag']));
    expect(moved.status).to.equal(200);
  });

  it('[S10] have tags by which a restore finds them, also where the transaction is their state', async () => {
    class Lines extends crudController(Line, {
      etag: 'xmin',
      can: { deleted: true },
      prefix: '/rows',
      endpoints: ['read', 'delete', 'restore', 'purge'],
    }) {}
    const { agent } = await buildApp({ models: [], controllers: [Lines] });
    const alive = String((await agent.get('/rows/1')).headers['etag']);
    expect((await agent.delete('/rows/1').set('if-match', alive)).status).to.equal(204);
    expect((await agent.post('/rows/1/restore').set('if-match', alive)).status).to.equal(412);
    const gone = String((await agent.get('/rows/1?deleted=only')).headers['etag']);
    const restored = await agent.post('/rows/1/restore').set('if-match', gone);
    expect(restored.status).to.equal(200);
    expect((await agent.delete('/rows/1').set('if-match', gone)).status).to.equal(412);
    expect((await agent.delete('/rows/1').set('if-match', String(restored.headers['etag']))).status).to.equal(
      204,
    );
    expect((await agent.delete('/rows/1/purge').set('if-match', gone)).status).to.equal(412);
    expect((await agent.delete('/rows/1/purge').set('if-match', '*')).status).to.equal(204);
  });

  it('[S9] are of lists whose cursors fit no other', async () => {
    class Papers extends crudController(Paper, { pagination: 'cursor', prefix: '/scrolls' }) {}
    const { agent } = await buildApp({ models: [Shelf, Line], controllers: [Papers] });
    const list = (query: string) => agent.get(`/scrolls?size=1${query}`).set('x-clerk', 'yes');
    await onBothPaths(async () => {
      const cursors: Record<string, string> = {};
      for (const query of ['', '&deleted=only', '&deleted=with']) {
        const seen: string[] = [];
        let after = '';
        do {
          const { body } = await list(`${query}${after && `&after=${after}`}`);
          seen.push(...body.items.map(({ title }: Paper) => title));
          after = body.next_cursor ?? '';
          cursors[query] ||= after;
        } while (after);
        const all = { '': 2, '&deleted=only': 2, '&deleted=with': 4 };
        expect(seen).to.have.lengthOf(all[query as keyof typeof all]);
      }
      for (const [query, cursor] of Object.entries(cursors))
        for (const other of Object.keys(cursors)) {
          const answer = await list(`${other}&after=${cursor}`);
          if (other === query) expect(answer.status).to.equal(200);
          else expectFault(answer, { code: 'cursor.mismatch' });
        }
    });
  });

  it('are passed on to overrides, and to methods with a list query', async () => {
    class Papers extends crudController(Paper, { prefix: '/sheets' }) {
      override async list(query: ListQuery, context: CrudContext<Paper>) {
        asked.push(String(query.deleted));
        return super.list(query, context);
      }
      override async read(id: number, query: ReadQuery, context: CrudContext<Paper>) {
        asked.push(String(query.deleted));
        return super.read(id, query, context);
      }
      @Get('/latest/all') latest(@InjectListQuery() query: ListQuery) {
        return new Repository(Paper).page({ ...query, page: 1 });
      }
    }
    const { agent } = await buildApp({ models: [Line], controllers: [Papers] });
    const seen = (path: string) => agent.get(path).set('x-clerk', 'yes');
    expect((await seen('/sheets?deleted=only')).body.total).to.equal(2);
    expect((await seen('/sheets/2?deleted=only')).body.title).to.equal('beta');
    expect((await seen('/sheets/2')).status).to.equal(404);
    expect(asked.filter((each) => !each.startsWith('/'))).to.deep.equal(['only', 'only', 'undefined']);
    expect((await seen('/sheets/latest/all?deleted=only')).body.total).to.equal(3);
    expectFault(await agent.get('/sheets/latest/all?deleted=only'), { code: UNKNOWN });
  });

  it('are found by repositories', () =>
    onBothPaths(async () => {
      const papers = new Repository(Paper);
      for (const [deleted, ids] of [
        ['only', [2, 3, 4]],
        ['with', [1, 2, 3, 4, 5]],
      ] as const) {
        const keys = (records: readonly Paper[]) => records.map(({ id }) => id);
        expect(keys(await papers.list({ deleted }))).to.have.members([...ids]);
        expect(keys((await papers.page({ page: 1, size: 9, deleted })).items)).to.deep.equal(ids);
        expect(keys((await papers.cursorPage({ size: 9, deleted })).items)).to.deep.equal(ids);
        expect((await papers.get(2, { deleted, fields: ['title'] })).title).to.equal('beta');
        const where = { title: 'beta' };
        expect(keys(await papers.list({ deleted, where }))).to.deep.equal([2]);
        expect((await papers.page({ page: 1, size: 9, deleted, where })).total).to.equal(1);
      }
      expect(await papers.find(1, { deleted: 'only' })).to.equal(null);
      expect((await papers.find(1, { deleted: 'with' }))?.title).to.equal('alpha');
      expect(await papers.get(2).catch((error: unknown) => error)).to.be.instanceOf(NotFoundError);
    }));

  it('are not found by a word that says nothing, or among rows that are removed', () =>
    onBothPaths(async () => {
      const deleted = 'yes' as 'only';
      const papers = new Repository(Paper);
      for (const find of [
        () => papers.list({ deleted }),
        () => papers.page({ page: 1, size: 9, deleted }),
        () => papers.cursorPage({ size: 9, deleted }),
        () => papers.find(1, { deleted }),
      ]) {
        const failure = await caughtError(find);
        expect(failure).to.be.instanceOf(RangeError);
        expect(String(failure)).to.include("deleted is \"yes\"; use 'only' or 'with'");
      }
      for (const find of [
        () => new Repository(Shelf).list({ deleted: 'with' }),
        () => new Repository(Shelf).find(1, { deleted: 'only' }),
        () => new Repository(Shelf).page({ page: 1, size: 9, deleted: 'with' }),
        () => new Repository(Shelf).purge(1),
        () => new Repository(Shelf).purge({ before: new Date() }),
      ]) {
        const failure = await caughtError(find);
        expect(failure).to.be.instanceOf(TypeError);
        expect(String(failure)).to.include('Shelf is not paranoid');
      }
    }));

  it('are told by the moment that others do not have, whichever that is', async () => {
    await Odd.bulkCreate([{ id: 1 }, { id: 2 }, { id: 3 }]);
    await Odd.destroy({ where: { id: [2, 3] } });
    const ids = async (query: string) => (await get(`/odds${query}`)).body.items.map(({ id }: Odd) => id);
    expect(await ids('')).to.deep.equal([1]);
    expect(await ids('?deleted=only')).to.deep.equal([2, 3]);
    expect(await ids('?deleted=with')).to.deep.equal([1, 2, 3]);
    expectProblem(await site.agent.post('/odds/1/restore'), 409, { detail: 'This Odd is not deleted.' });
    expectProblem(await site.agent.delete('/odds/1/purge'), 409, { detail: 'This Odd is not deleted.' });
    expectJson(await site.agent.post('/odds/2/restore'), 200, { id: 2, deletedAt: ALIVE.toJSON() });
    expect((await site.agent.delete('/odds/3/purge')).status).to.equal(204);
    expect(await ids('?deleted=with')).to.deep.equal([1, 2]);
  });

  it('are in the document where a request may see them', () => {
    const { paths } = site.crud.openapi();
    const schemaOf = (path: string) =>
      paths[path]?.get?.parameters?.flatMap((each) =>
        'name' in each && each.name === 'deleted' ? [each.schema] : [],
      );
    const schema = { type: 'string', enum: ['only', 'with'] };
    for (const path of ['/papers', '/papers/{id}', '/shelves/{id}/papers', '/odds'])
      expect(schemaOf(path), path).to.deep.equal([schema]);
    for (const path of ['/lines', '/lines/{id}', '/shelves', '/shelves/{id}'])
      expect(schemaOf(path), path).to.deep.equal([]);
  });
});
