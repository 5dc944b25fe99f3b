/** PostgreSQL that accepts connections with TLS only: all connections of the library use it, and errors name the fault of a certificate. */
// @runs fast

import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  checkHealth,
  dbSession,
  type EngineOptions,
  engineLifespan,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { Authority } from '../../support/certificates.js';
import { forSuite } from '../../support/for-suite.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { connectTo } from '../../support/postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({ sortAllow: ['id'] })
@Table({ tableName: 'letters', timestamps: false })
class Letter extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

const PASSWORD = 'p/4ss:word';
const POOL = 4;

const authorityOf = async () => {
  const authority = await Authority.create();
  return Object.assign(authority, { [Symbol.asyncDispose]: async () => authority.remove() });
};

describe('a server that takes TLS only', () => {
  const letters = new Repository(Letter);
  let settings: Record<string, string>;
  const authority = forSuite(authorityOf);
  const stranger = forSuite(authorityOf);
  const server = forSuite(async () => {
    const { cert, key } = await authority.sign('server', ['IP:127.0.0.1', 'DNS:db.example']);
    const access = ['hostssl all app all scram-sha-256', 'host all,replication postgres all scram-sha-256'];
    settings = {
      ssl: 'on',
      ssl_cert_file: cert,
      ssl_key_file: key,
      hba_file: await authority.write('access', `${access.join('\n')}\n`),
    };
    return OwnPostgres.create('tls', settings);
  });
  const control = forSuite(() => connectTo(server.url('postgres')));

  before(async () => {
    await control.query(`CREATE ROLE app LOGIN PASSWORD '${PASSWORD}'`);
    await control.query('CREATE DATABASE "the letters/a" OWNER app');
  });

  function dsn(query: string, { host = '127.0.0.1', to = server } = {}): string {
    const { port } = new URL(to.url('postgres'));
    return `postgres://app:${encodeURIComponent(PASSWORD)}@${host}:${port}/the%20letters%2Fa${query}`;
  }

  const trusted = () => `?sslmode=verify-full&sslrootcert=${authority.file}`;

  describe('and an application', () => {
    const site = serveTestApp(() => ({
      models: [Letter],
      database: { url: dsn(trusted()) },
      engine: { pool: { max: POOL }, groupCommit: true, dialectOptions: { query_timeout: 1_000 } },
      minPool: POOL,
    }));

    before(async () => {
      await Letter.bulkCreate(Array.from({ length: 100 }, (_, at) => ({ text: String(at).repeat(3_000) })));
    });

    it('reads many pages at the same time', async () => {
      const page = await site.agent.get('/letters?size=100').expect(200);
      expect(page.body.items.map(({ text }: Letter) => text[0])).to.have.length(100);
      const pages = await Promise.all(
        Array.from({ length: 60 }, (_, at) =>
          site.agent.get(at % 3 === 0 ? '/letters?size=100' : '/letters/1'),
        ),
      );
      for (const [at, { status, body }] of pages.entries())
        expect([status, body]).to.deep.equal([
          200,
          at % 3 === 0 ? page.body : { id: 1, text: '0'.repeat(3_000) },
        ]);
    });

    it('writes alone, together, and in units of work that begin with their first statement', async () => {
      const texts = Array.from({ length: 40 }, (_, at) => `new ${at}`);
      const created = await Promise.all(texts.map((text) => site.agent.post('/letters').send({ text })));
      expect(created.map(({ status, body }) => [status, body.text])).to.deep.equal(
        texts.map((text) => [201, text]),
      );
      const { id } = await unitOfWork(() => letters.create({ text: 'in a unit' }));
      await caughtError(() =>
        unitOfWork(async () => {
          await letters.create({ text: 'rolled back' });
          throw new RangeError('no');
        }),
      );
      await site.agent.patch(`/letters/${id}`).send({ text: 'changed' }).expect(200);
      const { body } = await site.agent.get('/letters?sort=-id&size=1');
      expect(body.items).to.deep.equal([{ id, text: 'changed' }]);
    });

    it('gives up a statement that takes too long, and goes on', async () => {
      const slow = () => dbSession((session) => site.engine.sequelize.query('SELECT pg_sleep(9)', session));
      expect(await caughtError(slow)).to.have.nested.property('parent.message', 'Query read timeout');
      await site.agent.get('/letters/1').expect(200);
    });

    it('is healthy', async () => {
      const { healthy } = await checkHealth();
      expect(healthy).to.equal(true);
    });

    it('[P12] has TLS on each connection', async () => {
      const { rows } = await control.query(
        "SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'app'",
      );
      expect(rows).to.deep.equal([{ ssl: true, version: 'TLSv1.3' }]);
    });
  });

  it('has replicas that are read by TLS', async () => {
    await using standby = await server.createStandby('tls-standby', settings);
    await using engine = await engineLifespan(dsn(trusted()), {
      models: [],
      replicas: [dsn(trusted(), { to: standby })],
    })();
    const [row] = await engine.sequelize.query(
      'SELECT pg_is_in_recovery() AS "isStandby", ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      { type: QueryTypes.SELECT },
    );
    expect(row).to.deep.equal({ isStandby: true, ssl: true });
    expect((await checkHealth()).healthy).to.equal(true);
  });

  it('takes a password that beforeConnect provides, for health as well', async () => {
    let count = 0;
    const beforeConnect = async (config: object) => {
      count += 1;
      Object.assign(config, { password: PASSWORD });
    };
    const url = new URL(dsn(trusted()));
    url.password = '';
    await using _engine = await engineLifespan(url.href, { models: [], hooks: { beforeConnect } })();
    const before = count;
    expect((await checkHealth()).healthy).to.equal(true);
    expect(count).to.equal(before + 1);
  });

  it('says nothing of what beforeConnect throws', async () => {
    const beforeConnect = async () => {
      throw new Error('Bearer secret-token was refused');
    };
    for (const query of ['', '&target_session_attrs=primary']) {
      const url = dsn(trusted() + query);
      const failure = await caughtError(() =>
        engineLifespan(url, { models: [], hooks: { beforeConnect } })(),
      );
      expect((failure as Error).message).to.match(/: connecting failed \(unknown\)\.$/);
    }
  });

  async function warningsOf(url: string, options: EngineOptions = {}): Promise<readonly string[]> {
    const logger = new CapturedLog();
    await using site = await startTestApp({
      models: [Letter],
      bootstrap: { logger, indexAdvice: false },
      engine: options,
      database: { url },
    });
    await site.agent.get('/letters').expect(200);
    return logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }

  it('is used without a word where the string says how, and with one where it says it in two ways', async () => {
    expect(await warningsOf(dsn(trusted()))).to.deep.equal([]);
    expect(await warningsOf(dsn('?sslmode=no-verify'))).to.deep.equal([]);
    expect(await warningsOf(dsn('?uselibpqcompat=true&sslmode=require'))).to.deep.equal([]);
    const byName = { host: 'localhost' };
    const authorityAlone = `?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${authority.file}`;
    expect(await warningsOf(dsn(authorityAlone, byName))).to.deep.equal([]);
    expect(await warningsOf(dsn(`?sslmode=require&sslrootcert=${authority.file}`))).to.deep.equal([
      'sslmode=require is read as verify-full: PostgreSQL is reached by TLS only, and its certificate has to be for this host and ' +
        'of an authority that is trusted. Write sslmode=verify-full, or sslmode=no-verify to check no certificate.',
    ]);
  });

  describe('is refused, with what to do,', () => {
    async function refusal(url: string, options: EngineOptions = {}): Promise<string> {
      const error = (await caughtError(() => engineLifespan(url, { models: [], ...options })())) as Error;
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)])
        expect(`${error.message}${error.stack}`).to.not.include(secret);
      const [start, reason] = error.message.split("user 'app': ");
      const { host } = new URL(url);
      expect(start).to.equal(`PostgreSQL at ${host}, database 'the letters/a', `);
      return String(reason);
    }

    const UNTRUSTED =
      'the certificate of the server is of no authority that is trusted here; name the file of its authority with ' +
      'sslmode=verify-full&sslrootcert=/path/ca.pem in the DSN, or check no certificate with sslmode=no-verify.';

    for (const [what, query] of [
      ['where its authority is not known', () => '?sslmode=require'],
      ['where another authority is trusted', () => `?sslmode=verify-full&sslrootcert=${stranger.file}`],
    ] as const) {
      it(what, async () => {
        expect(await refusal(dsn(query()))).to.equal(UNTRUSTED);
      });
    }

    it('[P12] where the certificate has other names', async () => {
      expect(await refusal(dsn(trusted(), { host: 'localhost' }))).to.match(
        /^the certificate of the server does not have the name of this host, and has IP Address:127\.0\.0\.1, DNS:db\.example; connect by a name that it has, or /,
      );
    });

    it('where TLS is not asked for', async () => {
      const WITHOUT =
        'the server refuses the user, or connections without TLS; where it takes TLS only, add sslmode=verify-full to the DSN.';
      expect(await refusal(dsn(''))).to.equal(WITHOUT);
      expect(await refusal(dsn('?sslmode=disable'), { dialectOptions: { ssl: true } })).to.equal(WITHOUT);
    });

    it('where the server has none', async () => {
      await using plain = await OwnPostgres.create('no-tls');
      expect(await refusal(dsn('?sslmode=no-verify', { to: plain }))).to.equal(
        'the server has no TLS; set ssl = on there, or write sslmode=disable in the DSN.',
      );
    });
  });

  it('is unhealthy where its certificate is not trusted any more', async () => {
    await using engine = await engineLifespan(dsn(''), {
      models: [],
      dialectOptions: { ssl: { rejectUnauthorized: false } },
    })();
    const { config } = engine.sequelize.connectionManager as unknown as {
      config: { replication: { write: { dialectOptions: object }; read: { dialectOptions: object }[] } };
    };
    for (const { dialectOptions } of [config.replication.write, ...config.replication.read])
      Object.assign(dialectOptions, { ssl: true });
    const { components } = await checkHealth();
    expect(components.map(({ error }) => error)).to.deep.equal(['certificate not trusted']);
  });
});
