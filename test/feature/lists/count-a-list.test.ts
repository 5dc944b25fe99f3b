/** `count`: lists whose rows are counted exactly, up to a cap, or not at all. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Get } from 'routing-controllers';
import {
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  filter,
  InjectListQuery,
  type ListQuery,
  type OffsetListQuery,
  type Page,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { TwoPaths } from '../../support/two-paths.js';

const CAP = 5;

const visible = (request: Request) => {
  const most = request.get('sees');
  return most ? filter`n<=${most}` : EVERYTHING;
};

abstract class Numbers extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare n: number;
}

@Crud({
  count: { cap: CAP },
  filterAllow: ['n'],
  sortAllow: ['n'],
  pageSize: { default: 2, max: 20 },
  visible,
})
@Table({ tableName: 'stones', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Stone extends NumberedRow {
  @Column(DataType.INTEGER) declare n: number;
}

@Crud({ count: { cap: CAP }, pagination: 'cursor', filterAllow: ['n'], pageSize: { default: 2 } })
@Table({ tableName: 'grains', timestamps: false })
class Grain extends Numbers {}

@Crud({ filterAllow: ['n'] })
@Table({ tableName: 'sands', timestamps: false })
class Sand extends Numbers {}

@Crud({ count: { allow: ['capped', 'none'], cap: CAP }, pageSize: { default: 2 } })
@Table({ tableName: 'rocks', timestamps: false })
class Rock extends Numbers {}

/** Each row is joined with two others. */
@Crud({ count: { cap: CAP }, filterAllow: ['n'], pageSize: { default: 2 } })
@DefaultScope(() => ({ include: [Chip], order: [['n', 'DESC']], limit: 3 }))
@Table({ tableName: 'slabs', timestamps: false })
class Slab extends Numbers {
  @HasMany(() => Chip, 'slabN') declare chips?: Chip[];
}

@Table({ tableName: 'chips', timestamps: false })
class Chip extends NumberedRow {
  @ForeignKey(() => Slab) @Column(DataType.INTEGER) declare slabN: number;
}

const upTo = (most: number) => Array.from({ length: most }, (_, index) => ({ n: index + 1 }));
const MODELS = [Stone, Grain, Sand, Rock, Slab];

async function fill(): Promise<void> {
  await Stone.bulkCreate(upTo(8));
  await Stone.destroy({ where: { n: 8 } });
  for (const model of [Grain, Rock, Sand, Slab]) await model.bulkCreate(upTo(7));
  await Chip.bulkCreate([...upTo(7), ...upTo(7)].map(({ n }) => ({ slabN: n })));
}

describe('[R25] counting a list', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { logger: new CapturedLog() },
    engine: { logging: sql.record, models: [...MODELS, Chip], pool: { max: 1 } },
  }));

  before(() => fill());

  /** The envelope of an answer; the items by their numbers. */
  const ask = async (target: string, headers: Record<string, string> = {}) => {
    const { body } = await site.agent.get(target).set(headers).expect(200);
    const items = body.items.map(({ n }: { n: number }) => n).join();
    const { total, total_is, page, pages, has_next, has_prev } = body;
    return { items, total, total_is, page, pages, has_next, has_prev };
  };

  const bodyOf = async (target: string): Promise<Record<string, unknown>> =>
    (await site.agent.get(target).expect(200)).body;

  describe('by number', () => {
    it('says what the total is, in a key of its own', async () => {
      const { text } = await site.agent.get('/stones').expect(200);
      expect(text).to.match(/^\{"items":\[.*\],"total":7,"total_is":"exact","page":1,"size":2,"pages":4,/);
    });

    for (const [label, most, total, is] of [
      ['one row below the cap', CAP - 1, CAP - 1, 'exact'],
      ['as many rows as the cap', CAP, CAP, 'exact'],
      ['one row above the cap', CAP + 1, CAP, 'at_least'],
    ] as const) {
      it(`stops at the cap with ${label}`, async () => {
        const pages = is === 'exact' ? Math.ceil(most / 2) : null;
        const found = { page: 1, has_next: true, has_prev: false, items: '1,2' };
        const counted = { total, total_is: is };
        const answer = await ask(`/stones?count=capped&q=n<=${most}`);
        expect(answer).to.deep.equal({ ...found, ...counted, pages });
        expect(await ask('/stones?count=capped', { sees: `${most}` })).to.deep.include(counted);
      });
    }

    it('answers the rows behind the cap, up to the last one', async () => {
      const behind = { total: CAP, total_is: 'at_least', pages: null, has_prev: true };
      const last = { total: 7, total_is: 'exact', pages: 7, has_prev: true };
      for (const [page, told] of [
        [6, { ...behind, items: '6', has_next: true }],
        [7, { ...last, items: '7', has_next: false }],
        [9, { ...behind, items: '', has_next: false }],
      ] as const)
        expect(await ask(`/stones?count=capped&page=${page}&size=1`)).to.deep.equal({ ...told, page });
    });

    it('counts nothing where it need not, and tells what a short page tells', async () => {
      const none = { total: null, total_is: 'none', pages: null };
      for (const [query, told] of [
        ['', { ...none, items: '1,2', has_next: true }],
        ['&page=3', { ...none, items: '5,6', has_next: true }],
        ['&page=4', { total: 7, total_is: 'exact', pages: 4, items: '7', has_next: false }],
        ['&page=9', { ...none, items: '', has_next: false }],
        ['&q=n<0', { total: 0, total_is: 'exact', pages: 0 }],
      ] as const)
        expect(await ask(`/stones?count=none${query}`), query).to.deep.include(told);
    });

    it('gives every row exactly once by has_next, whatever is counted', async () => {
      for (const mode of ['exact', 'capped', 'none']) {
        const seen: string[] = [];
        for (let page = 1, hasNext = true; hasNext; page += 1) {
          const found = await ask(`/stones?count=${mode}&page=${page}&sort=-n`);
          seen.push(found.items);
          hasNext = found.has_next;
        }
        expect(seen.join(), mode).to.equal('7,6,5,4,3,2,1');
      }
    });

    it('[D17] asks for no more than the cap, and not where the rows tell', async () => {
      const statements = async (target: string) =>
        (await sql.duringRequest(() => site.agent.get(target).expect(200))).statements;
      const [rows, counted] = await statements('/stones?count=capped');
      expect(rows).to.match(/ LIMIT 3\b/);
      expect(counted).to.match(
        /^SELECT count\(\*\).* FROM \(SELECT 1.* FROM "stones" .* LIMIT 6\) AS "\.?\w+";?$/,
      );
      expect(counted).not.to.include('ORDER BY');
      const told = `/stones?count=none /stones?count=capped&page=3 /stones?count=capped&page=4 /stones?count=exact&size=7
        /grains?count=exact&size=7 /grains?count=capped&size=${CAP + 1}`;
      for (const target of told.split(/\s+/)) expect(await statements(target), target).to.have.length(1);
    });
  });

  describe('by cursor', () => {
    it('[D17] counts nothing unless it is asked to, and has the same keys', async () => {
      const { body } = await site.agent.get('/grains').expect(200);
      const keys = Object.keys(body).join(' ');
      expect(keys).to.equal('items total total_is next_cursor prev_cursor has_next has_prev');
      expect([body.total, body.total_is]).to.deep.equal([null, 'none']);
      expect(await ask('/grains?q=n<3')).to.deep.include({ total: 2, total_is: 'exact', has_next: false });
    });

    it('counts all rows of the list on each of its pages', async () => {
      for (const [mode, q, total, is] of [
        ['exact', 'n>0', 7, 'exact'],
        ['capped', 'n>0', CAP, 'at_least'],
        ['capped', 'n>2', CAP, 'exact'],
        ['capped', 'n>3', CAP - 1, 'exact'],
      ] as const) {
        let target: string | null = `/grains?count=${mode}&q=${q}`;
        for (let page = 1; target; page += 1) {
          const body = await bodyOf(target);
          expect([body['total'], body['total_is']], `${mode} ${q} ${page}`).to.deep.equal([total, is]);
          const next = body['next_cursor'];
          target = next === null ? null : `/grains?count=${mode}&q=${q}&after=${next}`;
        }
      }
    });
  });

  it('through a scope that joins, sorts and limits counts each row once, and all of them', async () => {
    expect(await ask('/slabs')).to.deep.include({ items: '1,2', total: 7, total_is: 'exact' });
    expect(await ask('/slabs?count=capped')).to.deep.include({ total: CAP, total_is: 'at_least' });
    expect(await ask(`/slabs?count=capped&q=n<=${CAP}`)).to.deep.include({ total: CAP, total_is: 'exact' });
  });

  describe('with what is not allowed', () => {
    it('names what is, and the nearest', async () => {
      const refuse = async (target: string, detail: string, allowed: readonly string[]) => {
        const issue = { parameter: 'count', code: 'count.not-allowed', detail, allowed };
        expectProblem(await site.agent.get(target), 400, { detail, errors: [issue] });
      };
      const all = "Parameter 'count' is 'caped'; it accepts exact, capped, none. Did you mean 'capped'?";
      await refuse('/stones?count=caped', all, ['exact', 'capped', 'none']);
      const few = "Parameter 'count' is 'exact'; it accepts capped, none.";
      await refuse('/rocks?count=exact', few, ['capped', 'none']);
    });

    it('begins with the first that is allowed where the usual one is not', async () =>
      expect(await ask('/rocks')).to.deep.include({ total: CAP, total_is: 'at_least', has_next: true }));

    it('knows no parameter where the option is not set, and answers as ever', async () => {
      await site.agent.get('/sands?count=none').expect(400);
      const { text } = await site.agent.get('/sands?q=n<2').expect(200);
      expect(text).to.equal(
        '{"items":[{"n":1}],"total":1,"page":1,"size":20,"pages":1,"has_next":false,"has_prev":false}',
      );
    });
  });

  it('is in the document where the option is set', () => {
    const { paths, components } = site.crud.openapi() as unknown as {
      paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }>;
      components: { schemas: Record<string, { properties: Record<string, object>; required: string[] }> };
    };
    const parameter = (path: string) => paths[path]?.get.parameters.find(({ name }) => name === 'count');
    const schema = { type: 'string', enum: ['capped', 'none'], default: 'capped' };
    expect(parameter('/rocks')?.schema).to.deep.equal(schema);
    expect(parameter('/sands')).to.equal(undefined);
    const { StonePage, GrainCursorPage, SandPage } = components.schemas;
    expect(StonePage?.properties).to.deep.include.keys('total', 'total_is', 'pages');
    expect(StonePage?.properties['total']).to.deep.include({ type: ['integer', 'null'] });
    expect(StonePage?.properties['pages']).to.deep.include({ type: ['integer', 'null'] });
    expect(GrainCursorPage?.required).to.include.members(['total', 'total_is']);
    expect(SandPage?.properties).not.to.have.property('total_is');
    expect(SandPage?.properties['total']).to.deep.include({ type: 'integer' });
  });

  describe('in a repository', () => {
    const stones = new Repository(Stone);
    const place = { page: 1, size: 2 };

    it('says what the total is where it is asked', async () => {
      for (const [asked, told] of [
        [{}, { total: 7 }],
        [
          { count: 'capped', cap: 3 },
          { total: 3, totalIs: 'at_least', hasNext: true },
        ],
        [{ count: 'none' }, { total: null, totalIs: 'none', hasNext: true }],
        [
          { count: 'exact', size: 7 },
          { total: 7, totalIs: 'exact', hasNext: false },
        ],
      ] as const) {
        const asking = { ...place, ...asked };
        const { items: _items, ...rest } = await stones.page(asking);
        expect(rest).to.deep.equal({ page: 1, size: asking.size, ...told });
      }
      const { total, totalIs } = await stones.cursorPage({ size: 1, count: 'exact' });
      expect([total, totalIs]).to.deep.equal([7, 'exact']);
      expect(await stones.cursorPage({ size: 1 })).not.to.have.property('total');
    });

    it('takes a condition of its own, and hooks, into account', async () => {
      const where = { n: [1, 2, 3, 4] };
      const capped = { ...place, count: 'capped', cap: 3 } as const;
      expect(await stones.page({ ...capped, where })).to.deep.include({ total: 3, totalIs: 'at_least' });
      expect(await stones.page({ ...capped, cap: 4, where })).to.deep.include({ total: 4, totalIs: 'exact' });
      using _hook = addedHook(Stone, 'beforeCount', (options: { where?: object }) => {
        options.where = { ...options.where, id: [1, 2] };
      });
      expect(await stones.page(capped)).to.deep.include({ total: 2, totalIs: 'exact' });
    });

    it('refuses what it does not know', async () => {
      const caps = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
      for (const wrong of [{ count: 'some' }, ...caps.map((cap) => ({ count: 'capped', cap }))]) {
        const found = stones.page({ ...place, ...wrong } as never);
        expect(await found.then(String, (error: unknown) => error)).to.be.instanceOf(RangeError);
      }
    });
  });
});

/** An override with pages of its own, and a route with the query of a list. */
class StoneController extends crudController<Stone, object>(Stone) {
  override async list(query: ListQuery, { repository }: CrudContext<Stone>): Promise<Page<object>> {
    const { page, size } = query as OffsetListQuery;
    if (page === 3) return { items: [{ id: 1, n: 1 }], total: 9, page, size };
    if (page === 4) return { items: [{ id: 1, n: 1 }], page, size };
    return repository.page({ ...(query as OffsetListQuery), where: { n: [1, 2, 3] } });
  }

  @Get('/few')
  few(@InjectListQuery() query: OffsetListQuery) {
    return new Repository(Stone).page({ ...query, where: { n: [1, 2, 3, 4, 5, 6] } });
  }

  @Get('/uncounted')
  uncounted() {
    return new Repository(Stone).page({ page: 1, size: 1, count: 'none' });
  }
}

class SandController extends crudController<Sand>(Sand) {
  override list(query: ListQuery, { repository }: CrudContext<Sand>): Promise<Page<Sand>> {
    return repository.page({ ...(query as OffsetListQuery), size: 1, count: 'capped', cap: 2 });
  }
}

describe('counting a list in code of the user', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { controllers: [StoneController, SandController], logger: new CapturedLog() },
    engine: { models: [...MODELS, Chip] },
  }));

  before(() => fill());

  const rest = async (target: string) => {
    const { items: _items, ...others } = (await site.agent.get(target).expect(200)).body;
    return others;
  };

  it('counts as the request says, where the query is passed on', async () => {
    const page = { page: 1, size: 2, has_next: true, has_prev: false };
    const none = { ...page, total: null, total_is: 'none', pages: null };
    expect(await rest('/stones?count=none')).to.deep.equal(none);
    expect(await rest('/stones/few?count=none')).to.deep.equal(none);
    expect(await rest('/stones?count=capped')).to.deep.include({ total: 3, total_is: 'exact', pages: 2 });
    expect(await rest('/stones/few?count=capped')).to.deep.include({ total: CAP, total_is: 'at_least' });
    expect(await rest('/stones/uncounted')).to.deep.equal({ ...none, size: 1 });
  });

  it('takes the number of a page of its own as exact, and none as not known', async () => {
    const page = { size: 2, has_prev: true };
    const known = { page: 3, total: 9, total_is: 'exact', pages: 5, has_next: true };
    expect(await rest('/stones?page=3')).to.deep.equal({ ...page, ...known });
    const unknown = { ...page, page: 4, total: null, total_is: 'none', pages: null };
    expect(await rest('/stones?page=4')).to.deep.equal({ ...unknown, has_next: false });
    expect(await rest('/stones?page=4&size=1')).to.deep.equal({ ...unknown, size: 1, has_next: true });
  });

  it('has no total that is not exact where the option is not set', async () => {
    const { text } = await site.agent.get('/sands').expect(200);
    expect(text).to.equal(
      '{"items":[{"n":1}],"total":null,"page":1,"size":1,"pages":null,"has_next":true,"has_prev":false}',
    );
  });
});

describe('counting a list on both paths', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: MODELS,
      bootstrap: { logger: new CapturedLog() },
      engine: { models: [...MODELS, Chip] },
    }),
  );

  before(() => fill());

  it('gives the same bytes', async () => {
    for (const mode of ['exact', 'capped', 'none']) {
      const pages = ['', '&page=3', '&page=4', '&page=9', '&size=7'];
      for (const query of [...pages, `&q=n<=${CAP}`, `&q=n<=${CAP + 1}`])
        await paths.same({ path: `/stones?count=${mode}${query}` });
      const { body } = await paths.same({ path: `/grains?count=${mode}` });
      await paths.same({ path: `/grains?count=${mode}&after=${JSON.parse(body).next_cursor}` });
      await paths.same({ path: `/stones?count=${mode}`, headers: { sees: `${CAP}` } });
    }
  });
});
