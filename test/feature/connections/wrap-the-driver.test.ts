/** Software that wraps pg's `Client.query`, as tracers and firewalls do, and another driver object than the pg that is installed. */
// @runs fast

import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { expect } from 'chai';
import pg, { Client } from 'pg';
import { Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectJson } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { HARD_COLUMNS, HARD_VALUES, Specimen } from '../../support/specimen.js';
import { SpecimenTable } from '../../support/specimen-table.js';
import { serveTestApp } from '../../support/test-app.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud({ prefix: '/stones' })
@Table({ tableName: 'stones', timestamps: false })
class Stone extends KeyedRow {}

/** A query as the wrapper gets it. */
interface Query extends EventEmitter {
  readonly name: string;
  text: string;
  callback?(error: Error | null): void;
}

/** The wrapper's own work for a query of ours; `false` keeps the query from pg. */
type Look = (query: Query) => unknown;

const own = Client.prototype.query as (...args: readonly unknown[]) => unknown;

/** Wraps the method while the work runs. */
async function wrapping<T>(look: Look, work: () => Promise<T>): Promise<T> {
  function query(this: unknown, ...args: readonly unknown[]): unknown {
    const [asked] = args as readonly [Query];
    const isOurs = typeof asked === 'object' && asked.text.includes('"stones"');
    return isOurs && look(asked) === false ? asked : Reflect.apply(own, this, args);
  }
  Object.assign(Client.prototype, { query });
  try {
    return await work();
  } finally {
    Object.assign(Client.prototype, { query: own });
  }
}

describe("software that wraps pg's Client.query", () => {
  const site = serveTestApp(() => ({ models: [Stone], bootstrap: { logger, fastPath: true } }));
  const logger = new CapturedLog();

  before(() => Stone.bulkCreate([{ id: 1 }, { id: 2 }]));

  beforeEach(() => logger.clear());

  const send = () => site.agent.get('/stones/1');

  it('may listen for the end of a query that has a name, once', async () => {
    const told: unknown[] = [];
    const look: Look = (query) => {
      query.once('end', ({ rowCount }: { rowCount: number }) => told.push([query.name, rowCount]));
    };
    expectJson(await wrapping(look, send), 200, { id: 1 });
    expect(told).to.deep.equal([['SELECT stones', 1]]);
  });

  it('may listen for its failure', async () => {
    const told: unknown[] = [];
    const look: Look = (query) => {
      query.once('error', ({ code }: { code: string }) => told.push(code));
    };
    expect((await wrapping(look, () => site.agent.post('/stones').send({ id: 2 }))).status).to.equal(409);
    expect(told).to.deep.equal(['23505']);
  });

  it('may change the text for itself, and the statement stays as it is', async () => {
    const look: Look = (query) => {
      query.text = 'not SQL';
    };
    expectJson(await wrapping(look, send), 200, { id: 1 });
  });

  for (const [how, look] of Object.entries<Look>({
    'calls the callback': (query) => {
      query.callback?.(new Error('forbidden'));
      return false;
    },
    throws: () => {
      throw new Error('forbidden');
    },
  })) {
    it(`refuses a query when it ${how}, and the next one is answered`, async () => {
      expect((await wrapping(look, send)).status).to.equal(500);
      expect(logger.lines).to.have.length(1);
      expectJson(await send(), 200, { id: 1 });
    });
  }

  it('may fail in its own callback, after which everything goes on', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => thrown.push(error));
    const look: Look = (query) => {
      query.callback = () => {
        throw new Error('a broken tracer');
      };
    };
    try {
      expectJson(await wrapping(look, send), 200, { id: 1 });
      expectJson(await send(), 200, { id: 1 });
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
    expect(thrown.map(String)).to.deep.equal(['Error: a broken tracer']);
  });

  it('sees nothing any more when it has put the method back', async () => {
    let count = 0;
    const look: Look = () => {
      count += 1;
    };
    await wrapping(look, send);
    await send();
    expect(count).to.equal(1);
  });
});

describe('using another driver', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Specimen],
      engine: { dialectModule: { ...pg } },
      bootstrap: { logger: new CapturedLog(), idempotency: { principal: () => 'all' } },
    }),
  );

  before(async () => {
    const row = (id: number) => ({
      id,
      values: Object.fromEntries(
        HARD_COLUMNS.map((name) => [
          name,
          (HARD_VALUES[name] as readonly string[])[id % HARD_VALUES[name].length] ?? null,
        ]),
      ),
    });
    await new SpecimenTable(paths.site.engine.sequelize).fill(Array.from({ length: 12 }, (_, id) => row(id)));
  });

  it('is a reason for the general path, which gives the same answers', async () => {
    const { routes } = paths.site.crud;
    const reasons = routes.find(({ path, method }) => path === '/specimens/:id' && method === 'GET');
    expect(reasons?.generalPathReasons).to.include('the driver is another one than the installed pg');
    for (const path of ['/specimens', '/specimens/1', '/specimens/99', '/specimens?size=5&sort=-moment'])
      await paths.same({ path });
    await paths.same({ method: 'PATCH', path: '/specimens/1', body: { text: 'new' } });
    expect((await paths.same({ path: '/specimens/1' })).body).to.include('"text":"new"');
  });

  it('repeats the answer to a request with an Idempotency-Key', async () => {
    const send = () =>
      paths.site.agent.patch('/specimens/2').set('Idempotency-Key', `"${key}"`).send({ text: 'once' });
    const key = randomUUID();
    const first = await send();
    const second = await send();
    expect([first.status, first.body.text]).to.deep.equal([200, 'once']);
    expect([second.status, second.text, second.get('Idempotent-Replayed')]).to.deep.equal([
      200,
      first.text,
      'true',
    ]);
  });

  it('keeps no statements', async () => {
    const [rows] = await paths.site.engine.sequelize.query(
      "SELECT name FROM pg_prepared_statements WHERE name <> ''",
    );
    expect(rows).to.deep.equal([]);
  });
});
