/** Random batches with random faults: whatever is wrong with them, all is written or nothing, and every path answers the same. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud, crudController, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { except } from '../../support/combination.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';

const tenant = () => 1;
const OPTIONS = {
  endpoints: ['createMany', 'updateMany', 'deleteMany'],
  bulk: { max: 4 },
  filterAllow: ['title', 'rank'],
  scope: { tenant },
} as const;

/** Columns of both tables. */
abstract class Goods extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(3), allowNull: false }) declare title: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare rank: number;
  @Column({ type: DataType.STRING(3), unique: true }) declare code: string | null;
}

@Crud({ scope: { tenant } })
@Table({ tableName: 'crates', timestamps: false })
class Crate extends Model {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
}

@Crud(OPTIONS as object)
@Table({ tableName: 'lots', version: true, timestamps: false })
class Lot extends Goods {
  @ForeignKey(() => Crate)
  @Column({ type: DataType.INTEGER, references: { model: 'crates', key: 'id' } })
  declare parentId: number | null;
}

/** The order of writes matters to the constraint. */
@Crud({ ...OPTIONS, prefix: '/branches' } as object)
@Table({ tableName: 'branches', version: true, timestamps: false })
class Branch extends Goods {
  @ForeignKey(() => Branch)
  @Column({ type: DataType.INTEGER, references: { model: 'branches', key: 'id' } })
  declare parentId: number | null;
}

const SERVED = [Lot, Branch] as unknown as readonly ModelClass[];
const APPLICATION = [...SERVED, Crate as unknown as ModelClass];
const TABLES = ['lots', 'branches'] as const;

const RESET = `
  DELETE FROM lots; DELETE FROM branches; DELETE FROM crates;
  INSERT INTO crates (id, tenant) VALUES (1, 1), (3, 2);
  ${TABLES.map(
    (table) => `
  INSERT INTO ${table} (id, tenant, title, rank, code, "parentId", version) VALUES
    (1, 1, 'one', 0, 'a', NULL, 0), (2, 1, 'two', 1, NULL, NULL, 3), (3, 2, 'foe', 0, 'f', NULL, 0),
    (4, 1, 'for', 2, 'd', 1, 0), (5, 1, 'fiv', 0, NULL, NULL, 0);
  SELECT setval('${table}_id_seq', 100, false);`,
  ).join('')}`;

interface Batch {
  readonly table: (typeof TABLES)[number];
  readonly method: 'post' | 'patch' | 'delete';
  readonly query: string;
  readonly body: unknown;
}

const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const attributes = {
  title: option(fc.constantFrom<unknown>('x', 'yes', 'too long', null, 5)),
  rank: option(fc.constantFrom<unknown>(0, 7, 2 ** 31)),
  code: option(fc.constantFrom<unknown>('a', 'b', 'f', null)),
  parentId: option(fc.constantFrom<unknown>(1, 3, 99, null)),
  tenant: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(2) },
  ),
};
/** Right more often than not. */
const right = fc.record({ title: fc.constantFrom('x', 'y'), code: option(fc.constantFrom('b', 'c', 'e')) });
const created = fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: fc.record(attributes) });
const changed = fc
  .record({
    id: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom<unknown>(1, 2, 4, 5) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(3, 99, 'x') },
    ),
    version: option(fc.constantFrom(0, 3)),
  })
  .chain((head) =>
    fc
      .oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: fc.record(attributes) })
      .map((rest) => ({ ...head, ...rest })),
  );
const list = <T>(item: fc.Arbitrary<T>) =>
  fc.array(
    fc.oneof(
      { weight: 30, arbitrary: item as fc.Arbitrary<unknown> },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    { maxLength: 5 },
  );
const flags = fc
  .record({ atomic: option(fc.boolean()), dry_run: option(fc.boolean()) })
  .map((each) =>
    Object.entries(each).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)),
  );
const filtered = fc
  .record({
    q: fc.constantFrom('rank==0', 'rank=ge=0', 'title==foe', 'title==for', 'nothing==1', ''),
    most: option(fc.constantFrom(1, 2, 4, 9)),
  })
  .map(({ q, most }) => [`q=${q}`, ...(most === undefined ? [] : [`max_affected=${most}`])]);

const tables = fc.constantFrom(...TABLES, 'lots' as const);

const batches: fc.Arbitrary<Batch> = fc
  .oneof(
    fc.record({ method: fc.constant('post' as const), query: flags, body: list(created) }),
    fc.record({ method: fc.constant('patch' as const), query: flags, body: list(changed) }),
    fc.record({
      method: fc.constant('patch' as const),
      query: fc.tuple(filtered, flags).map((each) => each.flat()),
      body: fc.oneof(
        { weight: 2, arbitrary: right as fc.Arbitrary<object> },
        { weight: 1, arbitrary: fc.record(attributes) },
      ),
    }),
    fc.record({
      method: fc.constant('delete' as const),
      query: fc.tuple(filtered, flags).map((each) => each.flat()),
      body: fc.constant(undefined),
    }),
  )
  .chain((batch) => tables.map((table) => ({ ...batch, table, query: batch.query.join('&') })));

const OVERRIDES = 'it compares overrides with none';

except({ session: OVERRIDES, records: OVERRIDES }).describe('batches at random', () => {
  const site = serveTestApp(() => ({ models: APPLICATION, bootstrap: { models: [] }, minPool: 2 }));
  const paths: Record<string, BuiltApp> = {};

  const rows = async (table: string) =>
    JSON.stringify((await site.engine.sequelize.query(`SELECT * FROM ${table} ORDER BY id`))[0]);
  const reset = () => site.engine.sequelize.query(RESET);

  before(async () => {
    paths['one statement'] = await buildApp({ models: APPLICATION });
    paths['Sequelize'] = await buildApp({ models: APPLICATION, fastPath: false });
    const controllers = SERVED.map((model) => passingController(crudController(model)));
    paths['overrides'] = await buildApp({ models: APPLICATION, controllers });
  });

  it('[M34] are written as a whole or not at all, and are answered the same on every path', async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(batches, async ({ table, method, query, body }) => {
      let first: string | undefined;
      for (const [path, { agent }] of Object.entries(paths)) {
        await reset();
        const before = await rows(table);
        const answer = await agent[method](`/${table}?${query}`).send(body as object);
        const after = await rows(table);
        const { status } = answer;
        const isWritten = status < 300 && !query.includes('dry_run=true');
        if (!isWritten) expect(after, `${path} ${status}`).to.equal(before);
        expect(status, answer.text).to.be.below(500);
        const told = `${status} ${answer.text.replace(/"id":\d{3}/g, '"id":new')}`;
        first ??= told;
        expect(told, path).to.equal(first);
        if (status === 207 && isWritten && method === 'post') {
          const made = answer.body.items.filter((each: { status: number }) => each.status === 201).length;
          expect(JSON.parse(after)).to.have.length(5 + made);
        }
        seen.set(`${method} ${status}`, (seen.get(`${method} ${status}`) ?? 0) + 1);
      }
    });
    await fc.assert(property, { numRuns: 80, seed: 7 });
    // The batches are of all kinds.
    expect([...seen.keys()]).to.include.members([
      ...['post 201', 'post 207', 'post 400', 'post 409', 'post 422'],
      ...['patch 200', 'patch 207', 'patch 404', 'patch 409', 'patch 422', 'patch 400'],
      ...['delete 200', 'delete 207', 'delete 409', 'delete 400'],
    ]);
  });
});
