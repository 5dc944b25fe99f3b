/** Connection strings as libpq has them: sockets, names that are encoded, the environment, and several hosts of which one is the primary. */
// @runs once

import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Table } from 'sequelize-typescript';
import { findFreePort } from '../../../sample/support/free-port.js';
import { openFolder } from '../../../sample/support/open-folder.js';
import { giveToServer } from '../../../sample/support/server-account.js';
import { Crud, checkHealth, type Engine, type EngineOptions, engineLifespan } from '../../../src/index.js';
import { TextRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { forSuite } from '../../support/for-suite.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { connectTo, execute } from '../../support/postgres.js';
import { startSilentServer } from '../../support/silent-server.js';
import { createTemporaryFolder } from '../../support/temporary-folder.js';
import { startTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'flags', timestamps: false })
class Flag extends TextRow {}

const NAME = 'flags/of "all" & 100 %';

describe('a connection string of libpq', () => {
  let folder: string;
  forSuite(async () => {
    const made = await createTemporaryFolder('sockets');
    folder = await openFolder(made.path);
    await giveToServer(folder);
    return { [Symbol.asyncDispose]: async () => made.remove() };
  });
  const primary = forSuite(() => OwnPostgres.create('hosts', { unix_socket_directories: folder }));
  const standby = forSuite(async () => {
    await execute(primary.url('postgres'), `CREATE DATABASE "${NAME.replaceAll('"', '""')}"`);
    return primary.createStandby('hosts-standby');
  });

  const credentials = () => new URL(primary.url('postgres')).href.replace(/@.*/, '');
  const hostOf = (server: OwnPostgres) => new URL(server.url('postgres')).host;
  const database = encodeURIComponent(NAME);

  async function stateOf({ sequelize }: Engine, useMaster = false) {
    const [row] = await sequelize.query<{ name: string; address: string | null; isStandby: boolean }>(
      'SELECT current_database() AS name, host(inet_server_addr()) AS address, pg_is_in_recovery() AS "isStandby"',
      { type: QueryTypes.SELECT, useMaster } as { type: QueryTypes.SELECT },
    );
    return row;
  }

  async function stateWith(dsn: string, options: EngineOptions = {}) {
    await using engine = await engineLifespan(dsn, { models: [], ...options })();
    expect((await checkHealth()).healthy).to.equal(true);
    const [read, write] = [await stateOf(engine), await stateOf(engine, true)];
    expect(read).to.deep.equal(write);
    return read;
  }

  it('may name a database in any characters', async () => {
    expect(await stateWith(`${credentials()}@${hostOf(primary)}/${database}`)).to.include({ name: NAME });
  });

  it('[P12] may lead to a socket', async () => {
    const port = await serverPort();
    for (const dsn of [
      `${credentials()}@/${database}?host=${folder}&port=${port}`,
      `${credentials()}@${encodeURIComponent(folder)}:${port}/${database}?sslmode=require`,
    ])
      expect(await stateWith(dsn)).to.deep.equal({ name: NAME, address: null, isStandby: false });
    expect(await failureOf(`${credentials()}@/x?host=${folder}&port=1`)).to.equal(
      `PostgreSQL at ${folder}, database 'x', user 'postgres': there is no such socket; start the server, or correct the folder or the port.`,
    );
  });

  it('leaves to the environment what it does not say', async () => {
    const { hostname, port, username, password } = new URL(primary.url('postgres'));
    const variables = {
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: NAME,
    };
    const before = { ...process.env };
    Object.assign(process.env, variables);
    try {
      expect(await stateWith('postgres://')).to.include({ name: NAME });
      expect(await stateWith('postgres:///postgres')).to.include({ name: 'postgres' });
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  describe('with several hosts', () => {
    const hosts = (query: string, ...first: string[]) =>
      `${credentials()}@${[...first, hostOf(standby), hostOf(primary)].join()}/${database}${query}`;

    it('leads to the first that answers', async () => {
      const nobody = `127.0.0.1:${await findFreePort()}`;
      expect(await stateWith(hosts('', nobody))).to.include({ isStandby: true });
    });

    for (const [attributes, isStandby] of [
      ['read-write', false],
      ['primary', false],
      ['read-only', true],
      ['standby', true],
      ['prefer-standby', true],
    ] as const) {
      it(`leads to the one that is ${attributes}`, async () => {
        expect(await stateWith(hosts(`?target_session_attrs=${attributes}`))).to.include({ isStandby });
      });
    }

    it('leads to any where none is preferred', async () => {
      const dsn = `${credentials()}@${hostOf(primary)}/${database}?target_session_attrs=prefer-standby`;
      expect(await stateWith(dsn)).to.include({ isStandby: false });
    });

    it('leads to another one soon where one is silent', async () => {
      await using silent = await startSilentServer();
      const dsn = hosts('?target_session_attrs=primary&connect_timeout=1', `127.0.0.1:${silent.port}`);
      expect(await stateWith(dsn)).to.include({ isStandby: false });
    });

    it('may be those of a replica', async () => {
      const nobody = `127.0.0.1:${await findFreePort()}`;
      const replicas = [`postgres://${nobody},${hostOf(standby)}?target_session_attrs=standby`];
      await using engine = await engineLifespan(hosts('?target_session_attrs=primary'), {
        models: [],
        replicas,
      })();
      expect(
        [await stateOf(engine), await stateOf(engine, true)].map((state) => state?.isStandby),
      ).to.deep.equal([true, false]);
      expect((await checkHealth()).healthy).to.equal(true);
    });

    it('says what is wrong with each', async () => {
      const nobody = `127.0.0.1:${await findFreePort()}`;
      const dsn = `${credentials()}@${nobody},${hostOf(standby)}/${database}?target_session_attrs=read-write`;
      expect(await failureOf(dsn)).to.equal(
        `PostgreSQL at ${nobody} or ${hostOf(standby)}, database '${NAME}', user 'postgres': ` +
          `at ${nobody} nothing listens there; start the server or correct the port; ` +
          `at ${hostOf(standby)} it refuses writes, and target_session_attrs asks for a server that accepts them.`,
      );
    });

    it('asks no other host for a user that one has refused', async () => {
      const wrong = hosts('').replace(/:[^:@]+@/, ':wrong@');
      expect(await failureOf(wrong)).to.match(/: the server refuses the user or the password\.$/);
    });

    it('[F12 P12] follows the primary', async () => {
      // The two addresses exchange their servers, as when a standby is promoted.
      const [first, second] = [primary.proxy, standby.proxy];
      const ports = [await serverPort(), await serverPort(standby)] as const;
      await using site = await startTestApp({
        models: [Flag],
        database: { url: hosts('?target_session_attrs=read-write') },
      });
      await site.agent.post('/flags').send({ text: 'first' }).expect(201);
      first.retarget(ports[1]);
      second.retarget(ports[0]);
      first.reset();
      second.reset();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => site.agent.post('/flags').send({ text: 'second' })),
      );
      for (const { status } of answers) expect(status).to.be.oneOf([201, 503]);
      await site.agent.post('/flags').send({ text: 'third' }).expect(201);
      await site.agent.get('/flags').expect(200);
      first.retarget(ports[0]);
      second.retarget(ports[1]);
      first.reset();
      second.reset();
    });
  });

  /** The port that a server listens on itself. */
  async function serverPort(server = primary): Promise<number> {
    await using client = await connectTo(server.url('postgres'));
    const { rows } = await client.query("SELECT current_setting('port')::int AS port");
    return rows[0].port;
  }

  async function failureOf(dsn: string): Promise<string> {
    return ((await caughtError(() => engineLifespan(dsn, { models: [] })())) as Error).message;
  }
});
