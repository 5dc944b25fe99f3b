/** Software that wraps pg's `Client.query`, as tracers and firewalls do: what it does with a query, and what becomes of that. */
import type { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { Client } from 'pg';
import { Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ prefix: '/stones' })
@Table({ tableName: 'stones', timestamps: false })
class Stone extends KeyedRow {}

/** A query as the wrapper gets it. */
interface Query extends EventEmitter {
  readonly name: string;
  text: string;
  callback?(error: Error | null): void;
}

/** What the wrapper does with a query of ours; `false` keeps it from pg. */
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
