/**
 * Creates with an `Idempotency-Key` that are sent again until they are acknowledged, while connections are cut and back ends
 * killed at random: as many rows as creates. CRUD_TEST_CREATES sets how many there are of each model; default: 100.
 */
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { type CreateValues, Crud, type CrudContext, crudController } from '../../src/index.js';
import { NumberedRow, TextRow } from '../models/rows.js';
import { CapturedLog } from '../support/captured-log.js';
import { UNDER_WAY } from '../support/expect-replay.js';
import { forSuite } from '../support/for-suite.js';
import { proxiedDatabase } from '../support/proxied-database.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { serveTestApp } from '../support/test-app.js';

@Crud()
@Table({ tableName: 'transfers', timestamps: false })
class Transfer extends TextRow {}

/** A second try without a key would meet its own row. */
@Crud()
@Table({ tableName: 'accounts', timestamps: false })
class Account extends NumberedRow {
  @Column({ type: DataType.STRING(200), allowNull: false, unique: true }) declare text: string;
}

/** Its creates are transactions of several statements. */
@Crud()
@Table({ tableName: 'ledgers', timestamps: false })
class Ledger extends TextRow {}

class LedgerController extends crudController(Ledger) {
  override async create(values: CreateValues<Ledger>, context: CrudContext<Ledger>): Promise<Ledger> {
    const ledger = await super.create(values, context);
    return context.repository.update(ledger.id, { text: `${values.text}!` });
  }
}

const MODELS = [Transfer, Account, Ledger];
const TABLES = ['transfers', 'accounts', 'ledgers'];
const CREATES = Number(process.env['CRUD_TEST_CREATES'] ?? 100);
/** At the same time. */
const CLIENTS = 16;
/** One request in so many is met by a fault. */
const CALM = 12;
const PATIENCE = 500;

describe('creates that are sent again until they are acknowledged', function () {
  this.timeout(60_000 + 100 * CREATES);
  const database = forSuite(() => proxiedDatabase('repeats'));
  const site = serveTestApp(() => ({
    models: MODELS,
    database: { url: database.url },
    engine: {
      pool: { max: 8, acquire: 3_000 },
      dialectOptions: {
        connectionTimeoutMillis: 500,
        query_timeout: 800,
        statement_timeout: 750,
        lock_timeout: 300,
      },
    },
    bootstrap: {
      models: MODELS,
      controllers: [LedgerController],
      logger: new CapturedLog(),
      idempotency: { principal: () => 'ann' },
    },
  }));
  let proxy: TcpProxy;
  let control: Client;

  before(() => ({ proxy, control } = database));

  const faults: readonly (() => unknown)[] = [
    () => proxy.reset(),
    () => proxy.limitMoreData(Math.floor(Math.random() * 400), 'reset'),
    () => proxy.limitMoreData(Math.floor(Math.random() * 400)),
    () => proxy.loseReplyTo('COMMIT'),
    () => proxy.loseReplyTo('money'),
    () =>
      control.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5`,
      ),
  ];

  /** A fault, or the end of the one before, or nothing. */
  async function meddle(): Promise<void> {
    const chance = Math.floor(Math.random() * CALM);
    if (chance === 0) await faults[Math.floor(Math.random() * faults.length)]?.();
    else if (chance < 3) proxy.heal();
  }

  /** Sends a create until it is acknowledged. Returns true where the answer is that of an earlier try. */
  async function createOnce(table: string, name: string): Promise<boolean> {
    for (let attempt = 0; attempt < PATIENCE; attempt += 1) {
      await meddle();
      const { status, body, headers } = await site.agent
        .post(`/${table}`)
        .set('idempotency-key', name)
        .send({ text: `${name} money` });
      if (status === 201) {
        expect(body.text.replace('!', '')).to.equal(`${name} money`);
        return headers['idempotent-replayed'] === 'true';
      }
      if (status === 409) expect(body).to.deep.equal(UNDER_WAY);
      else expect([503, 504], JSON.stringify(body)).to.include(status);
    }
    return expect.fail(`${name} was not acknowledged in ${PATIENCE} tries`);
  }

  it('[K8 K23] give exactly as many rows as creates', async () => {
    const names = TABLES.flatMap((table) =>
      Array.from({ length: CREATES }, (_, index) => [table, `${table}-${index}`] as const),
    );
    names.sort(() => Math.random() - 0.5);
    let replays = 0;
    const client = async (): Promise<void> => {
      for (let next = names.pop(); next; next = names.pop()) if (await createOnce(...next)) replays += 1;
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    proxy.heal();
    for (const table of TABLES) {
      const { rows } = await control.query(
        `SELECT count(*)::int AS rows, count(DISTINCT text)::int AS texts FROM ${table}`,
      );
      expect([table, rows]).to.deep.equal([table, [{ rows: CREATES, texts: CREATES }]]);
    }
    // Some were done, and their answers lost.
    expect(replays).to.be.above(0);
  });
});
