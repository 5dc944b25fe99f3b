/**
 * The contract of the executors: our own statements and Sequelize run the same operations, and find and leave the same rows as an
 * oracle in memory. Without HTTP, so that a thousand operations take seconds.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  AutoIncrement,
  Column,
  DataType,
  Model,
  type ModelCtor,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import type { SortTerm } from '../../src/compile/resource-plan.js';
import type { Executor } from '../../src/execute/executor.js';
import {
  type FoundRecords,
  type Id,
  type RecordCall,
  repositoryOperation,
} from '../../src/execute/records/repository-operations.js';
import { rowRecords } from '../../src/execute/records/row-records.js';
import { SequelizeExecutor } from '../../src/execute/records/sequelize-executor.js';
import { Crud, type Engine, engineLifespan, NotDeletedError, NotFoundError } from '../../src/index.js';
import { type Access, OPEN_ACCESS } from '../../src/operation/access.js';
import type { Inputs } from '../../src/operation/feature.js';
import type { Operation } from '../../src/operation/operation.js';
import { equalTo } from '../../src/operation/predicates.js';
import type { Comparison, Filter } from '../../src/request/query/predicate.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { type Found, ShelfOracle, type ShelfRow } from './shelf-oracle.js';

abstract class Shelved extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
  @Column(DataType.INTEGER) declare pages: number | null;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare owner: number;
}

@Table({ tableName: 'volumes', timestamps: true, paranoid: true })
class Volume extends Shelved {
  declare deletedAt: Date | null;
}

const GONE = "it's $1 \\ gone";

/** Rows with NULL and with any other state are alive. */
@Crud({ softDelete: { attribute: 'state', deleted: GONE, alive: 'kept' } })
@Table({ tableName: 'leaflets', timestamps: true })
class Leaflet extends Shelved {
  @Column(DataType.TEXT) declare state: string | null;
}

/** A key of two attributes. */
@Table({ tableName: 'copies', timestamps: true, paranoid: true })
class Copy extends Volume {
  @PrimaryKey @Column({ type: DataType.INTEGER, allowNull: false, field: 'the owner' }) declare owner: number;
}

/** The values of a key of two attributes; that of most models is the first. */
interface Key {
  readonly id: number;
  readonly owner: number;
}

/** A model, and the way in which its rows are deleted. */
interface Shelf {
  readonly model: ModelCtor<Shelved>;
  readonly hasOwnerInKey?: true;
  readonly way: string;
  isDeleted(row: Shelved): boolean;
  marked(isDeleted: boolean, place: number): object;
}

const SHELVES: readonly Shelf[] = [
  {
    model: Volume,
    way: 'marked by a moment',
    isDeleted: (row) => row.get('deletedAt') !== null,
    marked: (isDeleted) => ({ deletedAt: isDeleted ? new Date() : null }),
  },
  {
    model: Copy,
    hasOwnerInKey: true,
    way: 'with a key of two attributes',
    isDeleted: (row) => row.get('deletedAt') !== null,
    marked: (isDeleted) => ({ deletedAt: isDeleted ? new Date() : null }),
  },
  {
    model: Leaflet,
    way: 'marked by a state',
    isDeleted: (row) => row.get('state') === GONE,
    marked: (isDeleted, place) => ({ state: isDeleted ? GONE : [null, 'kept', 'third'][place % 3] }),
  },
];

type ShelvedExecutor = Executor<FoundRecords<Shelved>, RecordCall<Shelved>>;
type ExecutorOf = (model: ModelCtor<Shelved>, access: Access) => ShelvedExecutor;

const EXECUTORS: readonly (readonly [name: string, of: ExecutorOf])[] = [
  ['our own statements', (model) => rowRecords(model, null) as ShelvedExecutor],
  ['Sequelize', (model, access) => new SequelizeExecutor(model, { access, source: null, address: null })],
];

/** Rows of one owner, whose key is in a slot. */
function ownedBy(owner: number): Access {
  const where = Object.freeze(equalTo('owner', Object.freeze({ slot: 'scope.owner' })));
  const scope = new Map([['owner', 'one' as const]]);
  return {
    ...OPEN_ACCESS,
    form: { ...OPEN_ACCESS.form, scope, where },
    where,
    slots: { 'scope.owner': String(owner) },
    values: () => new Map([['owner', [owner]]]),
  };
}

const ROWS: readonly ShelfRow[] = Array.from({ length: 14 }, (_, index) => ({
  id: index + 1,
  title: 'abcdef'[index % 6] as string,
  pages: index % 4 === 3 ? null : (index * 7) % 5,
  owner: (index % 3) + 1,
  isDeleted: index % 5 === 4,
}));

/** A step of a test. */
interface Step {
  readonly endpoint: 'read' | 'list' | 'create' | 'update' | 'delete' | 'restore' | 'purge';
  readonly access: Access;
  readonly inputs: Inputs;
  readonly key?: Key;
  readonly values?: Readonly<Record<string, unknown>>;
}

const access = fc.constantFrom(OPEN_ACCESS, OPEN_ACCESS, ownedBy(1), ownedBy(2));
const deleted = fc.constantFrom(undefined, undefined, 'only' as const, 'with' as const);
/** Most are those of rows that are there from the beginning. */
const key = fc
  .record({ id: fc.integer({ min: 1, max: 18 }), isOther: fc.constantFrom(false, false, false, true) })
  .map(({ id, isOther }): Key => ({ id, owner: ((id - 1) % 3) + (isOther ? 2 : 1) }));
const title = fc.constantFrom('a', 'b', 'c', "d'$1", 'e\\', '');
const pages = fc.option(fc.integer({ min: -2, max: 6 }));

const comparison = fc
  .oneof(
    fc.record({
      attribute: fc.constant('pages'),
      operator: fc.constantFrom('==' as const, '!=' as const, '=lt=' as const, '=ge=' as const),
      values: fc.integer({ min: -1, max: 5 }).map((value) => [String(value)]),
    }),
    fc.record({
      attribute: fc.constant('title'),
      operator: fc.constantFrom('=in=' as const, '=out=' as const, '=between=' as const),
      values: fc.tuple(title, title),
    }),
    fc.record({
      attribute: fc.constant('pages'),
      operator: fc.constant('=isnull=' as const),
      values: fc.constantFrom(['true'], ['false']),
    }),
  )
  .map((parts): Comparison => ({ kind: 'comparison', ...parts }));

const filter: fc.Arbitrary<Filter | null> = fc.option(
  fc.oneof(
    comparison,
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      operands: fc.array(comparison, { minLength: 2, maxLength: 3 }),
    }),
  ),
);

/** Each makes an order total. */
const TAILS: readonly (readonly SortTerm[])[] = [['id'], ['id', 'owner'], ['owner', 'id']].flatMap((names) =>
  [false, true].map((descending) => names.map((attribute) => ({ attribute, descending }))),
);

const sort = fc
  .uniqueArray(
    fc.record({ attribute: fc.constantFrom('title', 'pages', 'owner'), descending: fc.boolean() }),
    {
      selector: ({ attribute }) => attribute,
      maxLength: 2,
    },
  )
  .chain((terms) =>
    fc.constantFrom(...TAILS).map((tail) => {
      const isNew = ({ attribute }: SortTerm) => !terms.some((each) => each.attribute === attribute);
      return [...terms, ...tail.filter(isNew)];
    }),
  );

const count = fc.constantFrom(undefined, 'exact' as const, 'capped' as const, 'none' as const);

const page = fc.record({
  kind: fc.constant('offset' as const),
  page: fc.integer({ min: 1, max: 4 }),
  size: fc.integer({ min: 0, max: 5 }),
  filter,
  sort,
  deleted,
  count,
  cap: fc.constantFrom(3, 100),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    endpoint: fc.constant('read' as const),
    access,
    key,
    inputs: deleted.map((each) => (each ? { deleted: each } : {})),
  }),
  fc.record({ endpoint: fc.constant('list' as const), access, inputs: page as fc.Arbitrary<Inputs> }),
  fc.record({
    endpoint: fc.constant('create' as const),
    access,
    inputs: fc.constant({}),
    values: fc.record({ title, pages, owner: fc.constantFrom(1, 2) }),
  }),
  fc.record({
    endpoint: fc.constant('update' as const),
    access,
    key,
    inputs: fc.constant({}),
    values: fc.record({ title, pages }, { requiredKeys: [] }),
  }),
  fc.record({
    endpoint: fc.constantFrom('delete' as const, 'restore' as const, 'purge' as const),
    access,
    key,
    inputs: fc.constant({}),
  }),
);

for (const shelf of SHELVES) describeContract(shelf);

function describeContract({ model, way, isDeleted, marked, hasOwnerInKey }: Shelf): void {
  const idOf = ({ key }: Step): Id | undefined => (hasOwnerInKey && key ? { ...key } : key?.id);
  const slotsOf = ({ key }: Step) => ({
    id: String(key?.id),
    'id.id': String(key?.id),
    'id.owner': String(key?.owner),
  });
  const operationOf = ({ endpoint, inputs, access, values }: Step): Operation =>
    repositoryOperation(model, endpoint, access, null, inputs, values);
  const rowOf = (row: Shelved): ShelfRow => {
    const { id, title, pages, owner } = row;
    return { id, title, pages, owner, isDeleted: isDeleted(row) };
  };

  describe(`the contract of the executors, on rows ${way},`, () => {
    let database: TestDatabase;
    let engine: Engine;

    before(async () => {
      database = await freshDatabase();
      engine = await engineLifespan(database.url, { models: [model], createAll: true, logging: false })();
    });

    after(async () => {
      await engine[Symbol.asyncDispose]();
      await database.drop();
    });

    async function refill(): Promise<ShelfOracle> {
      await engine.sequelize.query(`TRUNCATE ${model.tableName} RESTART IDENTITY`);
      await model.bulkCreate(ROWS.map(({ id, isDeleted, ...row }) => ({ ...row, ...marked(isDeleted, id) })));
      return new ShelfOracle(ROWS);
    }

    /** An executor that is part of a transaction throws where it has written nothing, so that all is undone. */
    async function run(executor: ShelvedExecutor, each: Step): Promise<Found> {
      try {
        const id = idOf(each);
        const call = id === undefined ? {} : { id };
        const found = await executor.run(operationOf(each), each.access.slots, call);
        if (found === null) throw new TypeError('The executor leaves a plain operation to another one.');
        const { records, count, page } = found;
        const { total = null, totalIs, hasNext, next = null, prev = null } = page ?? {};
        const rows = records.map(rowOf);
        return { rows, count, page: page && { total, totalIs, hasNext, next, prev } };
      } catch (error) {
        if (error instanceof NotFoundError || error instanceof NotDeletedError) return NOTHING;
        throw error;
      }
    }

    const NOTHING: Found = { rows: [], count: 0, page: null };

    for (const [name, executorFor] of EXECUTORS) {
      it(`is kept by ${name}, whatever is read and written`, async function () {
        this.timeout(240_000);
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
            const oracle = await refill();
            for (const each of steps) {
              const found = await run(executorFor(model, each.access), each);
              expect(found, JSON.stringify(each.inputs)).to.deep.equal(
                oracle.run(operationOf(each), { ...each.access.slots, ...slotsOf(each) }),
              );
            }
            const left = await model.findAll({ order: ['id'], paranoid: false });
            expect(left.map(rowOf)).to.deep.equal(oracle.rows);
          }),
          { numRuns: wholeOr(40, 300) },
        );
      });

      it(`is kept by ${name} on a walk by cursor, there and back`, () =>
        fc.assert(
          fc.asyncProperty(
            filter,
            sort,
            deleted,
            access,
            fc.integer({ min: 1, max: 4 }),
            async (by, order, gone, seen, size) => {
              const oracle = await refill();
              const executor = executorFor(model, seen);
              const pageAt = async (place: Inputs) => {
                const inputs = {
                  kind: 'cursor',
                  filter: by,
                  sort: order,
                  size,
                  ...place,
                  ...(gone ? { deleted: gone } : {}),
                } as Inputs;
                return run(executor, { endpoint: 'list', access: seen, inputs });
              };
              const all = oracle.list({
                filter: by,
                order,
                deleted: gone,
                slots: seen.slots,
                where: seen.where,
              });
              const forth: ShelfRow[] = [];
              let last = await pageAt({});
              forth.push(...last.rows);
              while (last.page?.next) {
                last = await pageAt({ after: last.page.next });
                forth.push(...last.rows);
              }
              expect(forth).to.deep.equal(all);
              const back = [...last.rows];
              while (last.page?.prev) {
                last = await pageAt({ before: last.page.prev });
                back.unshift(...last.rows);
              }
              expect(back).to.deep.equal(all);
            },
          ),
          { numRuns: wholeOr(20, 100) },
        ));
    }
  });
}
