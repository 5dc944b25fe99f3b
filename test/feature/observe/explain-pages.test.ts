/** The plan of PostgreSQL for a page: one range of an index per range of rows, and no more work for a deeper page. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud, type Keyset, Repository, type SortTerm } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

const ROWS = 50_000;
const SIZE = 20;

@Crud({ pagination: 'cursor' })
@Table({ tableName: 'events', timestamps: false })
class Event extends KeyedRow {
  @Column({ type: DataType.ENUM('open', 'closed', 'void'), allowNull: false }) declare status: string;
  @Column({ type: DataType.DATE, allowNull: false, field: 'created_at' }) declare createdAt: Date;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare score: number;
  @Column(DataType.INTEGER) declare rating: number | null;
}

/** Two columns address a row, and are the order of its pages. */
@Crud({ pagination: 'cursor', pageSize: { max: ROWS }, sortAllow: ['orderId', 'lineNo'] })
@Table({ tableName: 'order_lines', timestamps: false })
class OrderLine extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'order_id' }) declare orderId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'line_no' }) declare lineNo: number;
}

/** Orders, each with the index that serves it and no other. */
const ORDERS: Readonly<Record<string, string>> = {
  id: 'id',
  '-id': 'id',
  score: 'score, id',
  '-score': 'score, id',
  'status,createdAt': 'status, created_at, id',
  '-status,-createdAt': 'status, created_at, id',
  'status,-createdAt': 'status, created_at DESC, id DESC',
  '-status,createdAt': 'status DESC, created_at, id',
  rating: 'rating, id',
  '-rating': 'rating DESC, id DESC',
  'rating,-score': 'rating, score DESC, id DESC',
  'score,rating': 'score, rating, id',
  'score,-rating': 'score, rating DESC, id DESC',
  'rating nulls first': 'rating NULLS FIRST, id',
  '-rating nulls last': 'rating DESC NULLS LAST, id DESC',
};

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

function termsOf(sort: string): SortTerm[] {
  return sort.split(',').map((term) => {
    const [name = '', place] = term.split(' nulls ');
    const nulls = place ? { nulls: place as 'first' | 'last' } : {};
    return { attribute: name.replace('-', ''), descending: name.startsWith('-'), ...nulls };
  });
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

describe('the plan of a page', () => {
  const site = serveTestApp(() => ({
    models: [Event, OrderLine],
    bootstrap: { logger: new CapturedLog() },
    engine: { logging: record, logQueryParameters: true },
  }));
  let statements: { sql: string; bind: readonly unknown[] }[] = [];
  const events = () => new Repository(Event);

  before(async () => {
    // A third of all rows share a status, a fifth a rating or none, a twentieth a score, and a hundred rows a moment.
    await site.engine.sequelize.query(
      `INSERT INTO events SELECT n, (ARRAY['open', 'closed', 'void'])[1 + n % 3]::enum_events_status,
         timestamptz '2026-01-01' + (n / 100) * interval '1 microsecond', (n * 7919 % 50021) % 20, nullif((n * 4391 % 50021) % 5, 0)
       FROM generate_series(1, ${ROWS}) AS n`,
    );
    await site.engine.sequelize.query(
      `INSERT INTO order_lines SELECT n / 7, n % 7 FROM generate_series(1, ${ROWS}) AS n`,
    );
    await site.engine.sequelize.query('VACUUM ANALYZE events, order_lines');
  });

  /** Sequelize appends the values to the statement with `logQueryParameters`. */
  function record(message: string): void {
    const match = /^Executing \([^)]*\): (SELECT .*?;)(?: ("?.*))?$/s.exec(message);
    const [, sql, values] = match ?? [];
    if (sql && /FROM "(?:events|order_lines)"/.test(sql))
      statements.push({ sql, bind: values ? JSON.parse(`[${values}]`) : [] });
  }

  /** The plans of the statements that a page takes. */
  async function explain(sort: string, places: { after?: Keyset; before?: Keyset }): Promise<PlanNode[]> {
    return explained(() => events().cursorPage({ size: SIZE, sort: termsOf(sort), ...places }));
  }

  async function explained(work: () => PromiseLike<unknown>): Promise<PlanNode[]> {
    statements = [];
    await work();
    const taken = statements;
    const plans: PlanNode[] = [];
    for (const { sql, bind } of taken) {
      const [row] = await site.engine.sequelize.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        { type: QueryTypes.SELECT, ...(bind.length > 0 ? { bind: [...bind] } : {}) },
      );
      if (row) plans.push(row['QUERY PLAN'][0].Plan);
    }
    return plans;
  }

  /** The place after this many rows. */
  async function placeAt(sort: string, depth: number): Promise<Keyset> {
    const terms = termsOf(sort);
    const last: SortTerm = { attribute: 'id', descending: terms.at(-1)?.descending ?? false };
    const order = [...terms, last]
      .map(({ attribute, descending, nulls }) => {
        const place = nulls ? ` NULLS ${nulls}` : '';
        return `"${column(attribute)}" ${descending ? 'DESC' : 'ASC'}${place}`;
      })
      .join(', ');
    const names = [...new Set([...terms.map(({ attribute }) => attribute), 'id'])];
    const [row] = await site.engine.sequelize.query<Record<string, string | null>>(
      `SELECT ${names.map((name) => `"${column(name)}"::text AS "${name}"`).join(', ')} FROM events
       ORDER BY ${order} LIMIT 1 OFFSET ${depth}`,
      { type: QueryTypes.SELECT },
    );
    return { values: names.map((name) => row?.[name] ?? null), isInclusive: false };
  }

  const column = (attribute: string): string => (attribute === 'createdAt' ? 'created_at' : attribute);

  const blocksOf = (plans: readonly PlanNode[]): number =>
    plans.reduce(
      (sum, plan) => sum + (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      0,
    );

  for (const [sort, columns] of Object.entries(ORDERS)) {
    describe(`of sort=${sort}`, () => {
      before(() => site.engine.sequelize.query(`CREATE INDEX serving ON events (${columns})`));
      after(() => site.engine.sequelize.query('DROP INDEX serving'));

      for (const direction of ['after', 'before'] as const) {
        it(`is ranges of the index, ${direction} a place`, async () => {
          const plans = await explain(sort, { [direction]: await placeAt(sort, ROWS / 2) });
          // One, as long as the first range fills the page.
          expect(plans.length).to.be.within(1, 6);
          for (const node of plans.flatMap(nodesOf)) {
            expect(node['Node Type'], JSON.stringify(node)).to.match(/^(Limit|Index (Only )?Scan)$/);
            expect(node.Filter, JSON.stringify(node)).to.equal(undefined);
            if (node['Node Type'] !== 'Limit') expect(node['Index Cond']).to.be.a('string');
            expect(node['Actual Rows']).to.be.at.most(SIZE + 2);
          }
        });
      }

      it('is a walk along the index for the first page', async () => {
        const plans = await explain(sort, {});
        const types = plans.flatMap(nodesOf).map((node) => node['Node Type']);
        expect(types).to.deep.equal(['Limit', 'Index Scan']);
      });

      it('costs the same at any depth, inside many rows that are equal but for the key too', async () => {
        const costs: number[] = [];
        for (const depth of [500, 16_000, ROWS - 500]) {
          costs.push(blocksOf(await explain(sort, { after: await placeAt(sort, depth) })));
        }
        expect(Math.max(...costs)).to.be.at.most(Math.min(...costs) * 1.5 + 20);
      });
    });
  }

  for (const sort of ['', 'orderId,lineNo', '-orderId,-lineNo'])
    it(`compares rows of a key once, in both directions${sort && `, of sort=${sort}`}`, async () => {
      const apps = await buildBoth({ models: [OrderLine] });
      for (const { agent } of apps) {
        const order = sort && `&sort=${sort}`;
        const { body } = await agent.get(`/order-lines?size=1000${order}`).expect(200);
        for (const [direction, isForward] of [
          ['after', !sort.startsWith('-')],
          ['before', sort.startsWith('-')],
        ] as const) {
          const path = `/order-lines?size=${SIZE}${order}&${direction}=${body.next_cursor}`;
          const plans = await explained(() => agent.get(path).expect(200));
          const nodes = plans.flatMap(nodesOf).filter((node) => node['Node Type'] !== 'Limit');
          expect(nodes.map((node) => node.Filter)).to.deep.equal([undefined]);
          expect(nodes[0]?.['Index Cond']?.replace(isForward ? '>' : '<', '~')).to.match(
            /^\(ROW\(order_id, line_no\) ~=? ROW\([^()]+\)\)$/,
          );
          expect(nodes[0]?.['Actual Rows']).to.be.at.most(SIZE + 2);
        }
      }
    });
});
