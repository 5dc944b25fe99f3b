/** Starting without a database that can be used: one clear error, soon, and never with the password. */
import { createServer } from 'node:net';
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  ConfigError,
  currentEngine,
  type EngineOptions,
  engineLifespan,
  type ModelClass,
} from '../../src/index.js';
import { caughtError } from '../support/caught-error.js';
import { forSuite } from '../support/for-suite.js';
import { listen } from '../support/listen.js';
import { freshDatabase } from '../support/postgres.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const SECRET = 'a-secret-password';

/** Model classes of two tables. An engine needs its own. */
function tables(): ModelClass[] {
  return ['cities', 'rivers'].map((tableName) => {
    class Row extends Model {}
    Column(DataType.ENUM('old', 'new'))(Row.prototype, 'age');
    Table({ tableName, modelName: tableName, timestamps: false, indexes: [{ fields: ['age'] }] })(Row);
    return Row as ModelClass;
  });
}

describe('starting', () => {
  const database = forSuite(() => freshDatabase('start'));
  const proxy = forSuite(() => TcpProxy.before(database.url));

  afterEach(() => proxy.heal());

  /** The DSN of the database with something else in it; the password is always the secret unless it has to be right. */
  const dsn = (change: Partial<Pick<URL, 'pathname' | 'port' | 'hostname' | 'password' | 'username'>>) =>
    Object.assign(new URL(database.url), change).href;

  /** The message of the one error that starting ends with; nothing of it shows the password. */
  async function refusal(url: string, options: EngineOptions = {}): Promise<string> {
    const error = await caughtError(() => engineLifespan(url, { models: [], ...options })());
    expect(error).to.be.instanceOf(ConfigError);
    const { message, stack = '', cause } = error as ConfigError;
    const passwords = [SECRET, new URL(database.url).password].filter((password) => password !== '');
    for (const password of passwords) expect(`${message}${stack}${String(cause)}`).to.not.include(password);
    expect(() => currentEngine()).to.throw(ConfigError);
    return message;
  }

  it('creates tables beside other starts that create the same ones', async () => {
    await using shared = await freshDatabase('create_all');
    const starts = Array.from({ length: 4 }, async () => {
      await using engine = await engineLifespan(shared.url, { models: tables(), createAll: true })();
      return await engine.sequelize.getQueryInterface().showAllTables();
    });
    for (const made of await Promise.all(starts)) expect(made).to.have.members(['cities', 'rivers']);
  });

  it('[F1] says that nothing listens there', async () => {
    await proxy.down();
    const message = await refusal(proxy.url(dsn({ password: SECRET })));
    await proxy.up();
    expect(message)
      .to.include(new URL(proxy.href).host)
      .and.include('nothing listens there; start the server or correct the port');
  });

  for (const [change, ...told] of [
    [{ hostname: 'no-such-host.invalid', password: SECRET }, 'the host has no address'],
    [{ pathname: '/no_such_database' }, "database 'no_such_database'", 'there is no such database'],
  ] as const) {
    it(`says that ${told.at(-1)}`, async () => {
      const message = await refusal(dsn(change));
      for (const text of told) expect(message).to.include(text);
    });
  }

  it('says that the password is wrong', async function () {
    if (process.env.DATABASE_URL) this.skip();
    expect(await refusal(dsn({ password: SECRET }))).to.include(
      'the server refuses the user or the password',
    );
  });

  for (const [kind, url] of [
    ['empty', ''],
    ['not a URL', `host=localhost password=${SECRET}`],
    ['of another database', `mysql://root:${SECRET}@localhost/atlas`],
  ] as const) {
    it(`says that the DSN is ${kind}`, async () =>
      expect(await refusal(url)).to.match(
        /^.*The DSN (is empty: .+ is not set|is not a URL|begins with 'mysql:'); use one such/,
      ));
  }

  it('says the same of a replica', async () =>
    expect(await refusal(database.url, { replicas: ['localhost'] })).to.include('The DSN is not a URL'));

  it('[F6] says that the server does not answer, as soon as the timeout is over', async () => {
    proxy.blackhole();
    const message = await refusal(proxy.url(dsn({ password: SECRET })), {
      dialectOptions: { connectionTimeoutMillis: 100 },
    });
    expect(message).to.include('the server does not answer in time');
  });

  it('says that what answers is no PostgreSQL', async () => {
    await using server = await listen((_request, response) => response.end());
    expect(
      await refusal(dsn({ hostname: '127.0.0.1', port: String(server.port), password: SECRET })),
    ).to.include(`127.0.0.1:${server.port}`);
  });

  it('says that the connection was cut', async () => {
    const rude = createServer((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(0);
    const { port } = rude.address() as { port: number };
    const message = await refusal(dsn({ hostname: '127.0.0.1', port: String(port), password: SECRET }));
    rude.close();
    expect(message).to.include('the connection was cut');
  });

  it('survives a connection that is cut after any number of bytes', async () => {
    const size = await handshakeSize(proxy);
    for (let bytes = 0; bytes < size; bytes += Math.ceil(size / 60)) {
      proxy.limitData(bytes, bytes % 2 ? 'reset' : 'end');
      await refusal(proxy.href);
    }
    proxy.heal();
    await using engine = await engineLifespan(proxy.href, { models: [] })();
    expect(engine).to.equal(currentEngine());
  });

  it('[F1] succeeds at the next attempt', async () => {
    await proxy.down();
    await refusal(proxy.href);
    await proxy.up();
    await using engine = await engineLifespan(proxy.href, { models: [] })();
    await engine.sequelize.query('SELECT 1');
  });

  /** The number of bytes that the server sends on each of the two connections, for writes and for reads, until an engine has started. */
  async function handshakeSize(through: TcpProxy): Promise<number> {
    const before = through.bytesReceived;
    await using _engine = await engineLifespan(through.href, { models: [] })();
    return Math.floor((through.bytesReceived - before) / 2);
  }
});
