/** Reads over two replicas. Each is a role of its own, and a row has the name of the role that read it. */
// @runs once
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, dbSession } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { untilConnectionsRest } from '../../support/connections-at-rest.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { itWhole } from '../../support/short.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

@Crud({ prefix: '/seats', pagination: 'cursor' })
@Table({ tableName: 'seats', timestamps: false })
class Seat extends KeyedRow {
  @Column(DataType.TEXT) declare server: string;
}

const CLIENTS = 16;

for (const fastPath of [true, false]) {
  describe(`replicas on the ${fastPath ? 'fast' : 'general'} path`, () => {
    const key = randomBytes(6).toString('hex');
    const roles: readonly string[] = [`one_${key}`, `other_${key}`];
    let database: TestDatabase;
    let control: Client;
    let proxies: readonly [TcpProxy, TcpProxy];
    let site: TestApp;

    function urlOf(role: string, direct: string): string {
      const url = new URL(direct);
      Object.assign(url, { username: role, password: role });
      return url.href;
    }

    function start(max: number): Promise<TestApp> {
      return startTestApp({
        models: [Seat],
        database: { url: database.url, drop: async () => {} },
        engine: {
          createAll: false,
          replicas: proxies.map((proxy, index) => urlOf(roles[index] as string, proxy.url(database.url))),
          pool: { max },
        },
        minPool: max,
        bootstrap: { fastPath, logger: new CapturedLog() },
      });
    }

    before(async () => {
      database = await freshDatabase('dealing');
      control = await connectTo(database.url);
      await control.query(
        'CREATE VIEW seats AS SELECT id, current_user::text AS server FROM generate_series(1, 100) AS t (id)',
      );
      for (const role of roles) {
        await control.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'; GRANT SELECT ON seats TO ${role}`);
      }
    });

    beforeEach(async () => {
      proxies = [await TcpProxy.before(database.url), await TcpProxy.before(database.url)];
      site = await start(6);
    });

    afterEach(async () => {
      await site[Symbol.asyncDispose]();
      for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
    });

    after(async () => {
      for (const role of roles) await control.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await control.end();
      await database.drop();
    });

    const read = async (id: number): Promise<string> => {
      const { status, body } = await site.agent.get(`/seats/${id}`);
      return status === 200 ? body.server : `status ${status}`;
    };
    const list = async (id: number): Promise<string> => {
      const { status, body } = await site.agent.get(`/seats?size=${id}`);
      return status === 200 ? body.items[0].server : `status ${status}`;
    };

    /** Share of the reads that the first server had; all of them have an answer. */
    async function shareOf(
      ask: (id: number) => Promise<string>,
      clients = CLIENTS,
      count = 160,
    ): Promise<number> {
      const servers: string[] = [];
      const visit = async () => {
        for (let id = 1; id <= count / clients; id += 1) servers.push(await ask(1 + (id % 20)));
      };
      await Promise.all(Array.from({ length: clients }, visit));
      expect(new Set(servers.filter((server) => !roles.includes(server)))).to.deep.equal(new Set());
      return servers.filter((server) => server === roles[0]).length / servers.length;
    }

    /** Waits until both have a connection and nothing else uses one, such as the check of indexes at the start. */
    async function untilBothRest(): Promise<void> {
      const seen = new Set<string>();
      while (seen.size < roles.length) seen.add(await read(1));
      await untilConnectionsRest();
    }

    it('have as many reads each, by key and of lists, when many come', async () => {
      await untilBothRest();
      // A server whose connections wait for a processor has fewer reads for a moment.
      expect(await shareOf(read, CLIENTS, 480)).to.be.within(0.4, 0.6);
      expect(await shareOf(list, CLIENTS, 480)).to.be.within(0.4, 0.6);
    });

    it('have as many reads each when they come one by one', async () => {
      await untilBothRest();
      expect(await shareOf(read, 1, 40)).to.equal(0.5);
      expect(await shareOf(list, 1, 40)).to.equal(0.5);
    });

    it('have as many reads each where there is one connection for each', async () => {
      await site[Symbol.asyncDispose]();
      site = await start(2);
      await untilBothRest();
      expect(await shareOf(read, 1, 40)).to.equal(0.5);
    });

    it('have as many sessions each', async () => {
      await untilBothRest();
      const sessions = async () => {
        const [seat] = await dbSession(({ transaction }) => Seat.findAll({ limit: 1, transaction }));
        return `${seat?.server}`;
      };
      expect(await shareOf(sessions)).to.be.within(0.4, 0.6);
    });

    // Both paths take connections from the same pools, and this takes seconds.
    const itInFull = fastPath ? it : itWhole;
    itInFull('answer all reads while one of them is down, and share them again when it is back', async () => {
      await shareOf(read);
      await proxies[1].down();
      // The end of the connections is noticed when it arrives.
      while ((await read(1)) !== roles[0]) await sleep(2);
      expect(await shareOf(read)).to.equal(1);
      expect(await shareOf(list)).to.equal(1);
      await proxies[1].up();
      for (const ask of [read, list]) {
        let share = 1;
        while (share < 0.4 || share > 0.6) share = await shareOf(ask);
      }
    });
  });
}
