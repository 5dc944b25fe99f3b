/** Connection strings -> where to connect: as libpq reads them, and refused where they can be read in two ways. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConnectionString } from '../../../../src/postgres/engine/connection-string.js';
import { ConfigError } from '../../../../src/util/config-error.js';
import { createTemporaryFolder, type TemporaryFolder } from '../../../support/temporary-folder.js';

type Environment = Record<string, string>;

function read(text: string, environment: Environment = {}, code = {}) {
  return readConnectionString(text, code, environment);
}

/** The parts, without the options. */
function partsOf(text: string, environment: Environment = {}, code = {}) {
  const { dialectOptions: _, ...parts } = read(text, environment, code).server;
  return parts;
}

function problemOf(text: string, environment: Environment = {}, code = {}): string {
  try {
    read(text, environment, code);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'none';
}

const LOCAL = { host: 'localhost', port: 5432 };
const ANN = { username: 'ann', password: 'secret' };

describe('a connection string', () => {
  for (const [text, parts] of [
    ['postgres://', LOCAL],
    ['postgresql:///atlas', { ...LOCAL, database: 'atlas' }],
    ['postgres://ann:secret@/atlas', { ...LOCAL, ...ANN, database: 'atlas' }],
    ['postgres://db.example', { host: 'db.example', port: 5432 }],
    ['postgres://:6432/atlas', { host: 'localhost', port: 6432, database: 'atlas' }],
    ['postgres://[2001:db8::1]:6432', { host: '2001:db8::1', port: 6432 }],
    ['postgres://ann%40x:p%3A%2F%40@h/', { host: 'h', port: 5432, username: 'ann@x', password: 'p:/@' }],
    ['postgres://h/x?host=&port=&sslmode=&user=', { host: 'h', port: 5432, database: 'x' }],
    ['postgres://h/my%20db', { host: 'h', port: 5432, database: 'my db' }],
    ['postgres://h/a%2Fb%3F%23%C3%A4', { host: 'h', port: 5432, database: 'a/b?#ä' }],
    [
      'postgres://ann:secret@/atlas?host=/cloudsql/my-project:europe-west1:main',
      { host: '/cloudsql/my-project:europe-west1:main', port: 5432, ...ANN, database: 'atlas' },
    ],
    [
      'postgres://%2Fvar%2Frun%2Fpostgresql/atlas',
      { host: '/var/run/postgresql', port: 5432, database: 'atlas' },
    ],
    [
      'postgres://h/x?host=other&port=1&dbname=atlas&user=ann&password=secret',
      { host: 'other', port: 1, ...ANN, database: 'atlas' },
    ],
    [
      'postgres://a:1,b,[::1]:3/atlas?target_session_attrs=read-write',
      {
        host: 'a',
        port: 1,
        database: 'atlas',
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 5432 },
          { host: '::1', port: 3 },
        ],
        sessionAttributes: 'read-write',
      },
    ],
    [
      'postgres:///atlas?host=a,b&port=6432',
      {
        host: 'a',
        port: 6432,
        database: 'atlas',
        hosts: [
          { host: 'a', port: 6432 },
          { host: 'b', port: 6432 },
        ],
        sessionAttributes: 'any',
      },
    ],
  ] as const) {
    it(`such as ${text} is read`, () => expect(partsOf(text)).to.deep.equal(parts));
  }

  const VARIABLES = {
    PGHOST: '/run/pg',
    PGPORT: '6432',
    PGUSER: 'ann',
    PGPASSWORD: 'secret',
    PGDATABASE: 'atlas',
  };

  it('leaves to the environment what it does not say, and to the code before', () => {
    const ofVariables = { host: '/run/pg', port: 6432, ...ANN, database: 'atlas' };
    expect(partsOf('postgres://', VARIABLES)).to.deep.equal(ofVariables);
    const code = { host: 'h', port: 1, username: 'bob', password: 'word', database: 'x' };
    expect(partsOf('postgres://bob:word@h:1/x', VARIABLES)).to.deep.equal(code);
    expect(partsOf('postgres://', VARIABLES, code)).to.deep.equal(code);
    const several = { PGHOST: 'a,b', PGPORT: '1,2', PGTARGETSESSIONATTRS: 'primary' };
    expect(partsOf('postgres://', several)).to.deep.equal({
      ...{ host: 'a', port: 1, sessionAttributes: 'primary' },
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    });
  });

  it('passes on its other parameters, and takes seconds for the time to connect', () => {
    const { dialectOptions } = read(
      'postgres://h/?application_name=atlas&options=-c%20work_mem%3D8MB&connect_timeout=10&channel_binding=require',
      { PGCONNECT_TIMEOUT: '1', PGOPTIONS: '-c x=1' },
      { dialectOptions: { statement_timeout: 1 } },
    ).server;
    expect(dialectOptions).to.deep.equal({
      application_name: 'atlas',
      options: '-c work_mem=8MB',
      connectionTimeoutMillis: 10_000,
      channel_binding: 'require',
      statement_timeout: 1,
    });
    const ofEnvironment = read('postgres://h', { PGCONNECT_TIMEOUT: '2', PGOPTIONS: '-c x=1' }).server;
    expect(ofEnvironment.dialectOptions).to.deep.equal({ connectionTimeoutMillis: 2_000, options: '-c x=1' });
  });

  it('keeps a plus, as libpq does', () => {
    const { password, dialectOptions } = read('postgres://a+b:c+d@h/?application_name=e+f%2Bg%20h').server;
    expect([password, dialectOptions]).to.deep.equal(['c+d', { application_name: 'e+f+g h' }]);
  });

  for (const text of ['postgres://u:secret@h/x\n', ' postgres://u:secret@h/x', '\r\npostgres://u:secret@h/x'])
    it(`with blanks at an end is refused by their name: ${JSON.stringify(text)}`, () =>
      expect(problemOf(text)).to.equal(
        'The DSN begins or ends with a space or a line break, as a file with a secret often does; remove it.',
      ));

  const PORT = 'use a number from 1 to 65535.';
  for (const [text, problem] of [
    ['a:1,b:2/x?port=1,2,3', 'The DSN has 2 hosts and 3 ports; use one port for each host.'],
    ['h:0/x', `The DSN has the port '0'; ${PORT}`],
    ['h:65536/x', `The DSN has the port '65536'; ${PORT}`],
    ['h/x?port=many', `The DSN has the port 'many'; ${PORT}`],
    ['h/x?hostaddr=10.0.0.1', 'The DSN has the parameter hostaddr, which is not read; use host.'],
    [
      'h/x?service=mine',
      'The DSN has the parameter service, which is not read; use host, port, user and dbname.',
    ],
    [
      'h/x?sslmod=verify-full',
      "The DSN has the parameter sslmod, which is not read. Did you mean 'sslmode'?",
    ],
    [
      'h/x?target_session_attributes=primary',
      "The DSN has the parameter target_session_attributes, which is not read. Did you mean 'target_session_attrs'?",
    ],
    [
      'h/x?target_session_attrs=master',
      "target_session_attrs is 'master'; use one of any, read-write, read-only, primary, standby, prefer-standby.",
    ],
    ['h/x?connect_timeout=soon', "connect_timeout is 'soon'; use a number of seconds."],
    [
      'h/x?sslmode=on',
      "sslmode is 'on'; use one of disable, allow, prefer, require, verify-ca, verify-full, no-verify.",
    ],
    [
      'h/x?sslrootcert=/nowhere/ca.pem',
      "sslrootcert is '/nowhere/ca.pem', which cannot be read (ENOENT); correct the path.",
    ],
    [
      'h/x?uselibpqcompat=true&sslmode=verify-ca',
      'sslmode=verify-ca checks no name; add sslrootcert with the authority to trust.',
    ],
  ] as const) {
    it(`such as postgres://${text} is refused`, () =>
      expect(problemOf(`postgres://${text}`)).to.equal(problem));
  }

  const SERVICE =
    'PGSERVICE is set, which is not read; unset it, or write host, port, user and dbname in the DSN.';
  for (const [text, environment, problem, code] of [
    ['h/x', { PGPORT: '54x2' }, `PGPORT has the port '54x2'; ${PORT}`],
    ['h/x', {}, `The engine option port has the port '0'; ${PORT}`, { port: 0 }],
    ['/x', { PGHOST: 'h:1:2' }, "PGHOST has the host 'h:1:2'; use a name or an address, and its port apart."],
    [
      '/x',
      { PGHOST: 'a,b', PGPORT: '1,2,3' },
      'PGHOST has 2 hosts and PGPORT 3 ports; use one port for each host.',
    ],
    ['a,b/x?port=1,2,3', {}, 'The DSN has 2 hosts and 3 ports; use one port for each host.'],
    ['?port=1,2', { PGHOST: 'a,b,c' }, 'PGHOST has 3 hosts and the DSN 2 ports; use one port for each host.'],
    [
      'h/x',
      { PGTARGETSESSIONATTRS: 'primry' },
      "PGTARGETSESSIONATTRS is 'primry'; use one of any, read-write, read-only, primary, standby, prefer-standby.",
    ],
    [
      'h/x?sslmode=verify-full',
      { PGSSLCERT: '/nowhere/a.pem' },
      "PGSSLCERT is '/nowhere/a.pem', which cannot be read (ENOENT); correct the path.",
    ],
    [
      'h/x?uselibpqcompat=true',
      { PGSSLMODE: 'verify-ca' },
      'PGSSLMODE=verify-ca checks no name; add sslrootcert with the authority to trust.',
    ],
    [
      'ann@h:1/x',
      { PGHOSTADDR: '10.0.0.1' },
      'PGHOSTADDR is set, which is not read; unset it, and use the address as the host.',
    ],
    ['h:1/x', { PGSERVICE: 'mine' }, SERVICE],
    ['ann@h/x', { PGSERVICE: 'mine' }, SERVICE],
    ['ann@/x?port=1', { PGSERVICE: 'mine' }, SERVICE],
    ['ann@h:1', { PGSERVICE: 'mine' }, SERVICE],
    ['ann@h:1/x', { PGSERVICE: 'mine' }, 'none'],
    ['', { PGSERVICE: 'mine' }, 'none', { host: 'h', port: 1, username: 'ann', database: 'x' }],
  ] as const) {
    const shown = JSON.stringify({ ...environment, ...code });
    it(`such as postgres://${text} with ${shown} names what is wrong`, () =>
      expect(problemOf(`postgres://${text}`, environment as Environment, code)).to.equal(problem));
  }

  for (const text of [
    'postgres://ann:12,a/b@h/x',
    'postgres://ann:a,b@c@h/x',
    'postgres://[::g]/x',
    'postgres://h:1:2/x',
    'postgres://a,b:c/x',
    'postgres://h%zz/x',
  ]) {
    it(`such as ${text} cannot be read for certain`, () =>
      expect(problemOf(text)).to.match(/^The DSN cannot be read for certain; use one such as postgres:/));
  }

  describe('and TLS', () => {
    let folder: TemporaryFolder;
    let ca: string;

    before(async () => {
      folder = await createTemporaryFolder('tls');
      ca = join(folder.path, 'ca.pem');
      await writeFile(ca, PEM);
    });

    after(() => folder.remove());

    const PEM = '-----BEGIN CERTIFICATE-----\n';
    const tlsOf = (query: string, environment: Environment = {}, ssl?: unknown) =>
      read(`postgres://h/x?${query.replace('CA', ca)}`, environment, {
        dialectOptions: ssl === undefined ? {} : { ssl },
      }).server.dialectOptions['ssl'];

    for (const [query, ssl] of [
      ['', undefined],
      ['sslmode=disable', false],
      ['ssl=false', false],
      ['ssl=0', false],
      ['ssl=true', {}],
      ['sslmode=require', {}],
      ['sslmode=verify-full', {}],
      ['sslmode=verify-full&sslrootcert=system', {}],
      ['sslmode=verify-full&sslrootcert=CA', { ca: PEM }],
      ['sslrootcert=CA', { ca: PEM }],
      ['sslmode=no-verify', { rejectUnauthorized: false }],
      ['ssl=no-verify', { rejectUnauthorized: false }],
      ['uselibpqcompat=true&sslmode=require', { rejectUnauthorized: false }],
    ] as const) {
      it(`is ${JSON.stringify(ssl)} for '${query}'`, () => expect(tlsOf(query)).to.deep.equal(ssl));
    }

    it('checks the authority and not the name, as libpq does, where that is asked for', () => {
      const { ca: text, checkServerIdentity } = tlsOf(
        'uselibpqcompat=true&sslmode=verify-ca&sslrootcert=CA',
      ) as { ca: string; checkServerIdentity(): unknown };
      expect([text, checkServerIdentity()]).to.deep.equal([PEM, undefined]);
    });

    it('is that of the code where the string says nothing, and of both where it does', () => {
      expect(tlsOf('', {}, { ca: 'own' })).to.deep.equal({ ca: 'own' });
      expect(tlsOf('', { PGSSLMODE: 'disable' }, true)).to.equal(true);
      expect(tlsOf('sslmode=verify-full', {}, { ca: 'own' })).to.deep.equal({ ca: 'own' });
      expect(tlsOf('sslmode=disable', {}, { ca: 'own' })).to.equal(false);
      expect(tlsOf('sslmode=verify-full', {}, false)).to.deep.equal({});
    });

    it('is that of the environment where neither says anything', () => {
      expect(tlsOf('', { PGSSLMODE: 'verify-full', PGSSLROOTCERT: ca })).to.deep.equal({ ca: PEM });
      expect(tlsOf('sslmode=verify-full', { PGSSLROOTCERT: ca })).to.deep.equal({ ca: PEM });
      expect(tlsOf('sslmode=disable', { PGSSLMODE: 'require' })).to.equal(false);
      expect(problemOf('postgres://h', { PGSSLMODE: 'on' })).to.match(
        /^PGSSLMODE is 'on'; use one of disable, /,
      );
    });

    it('is none on a socket', () =>
      expect(read('postgres:///x?host=/run&sslmode=require').server.dialectOptions['ssl']).to.equal(false));

    it('names a file that is no certificate', async () => {
      const file = join(folder.path, 'none');
      await writeFile(file, 'text');
      expect(problemOf(`postgres://h/x?sslcert=${file}`)).to.equal(
        `sslcert is '${file}', which is no PEM file of its kind; correct the path.`,
      );
    });

    it('has advice where a mode is read as a stricter one, and where writes may come to a standby', () => {
      const { advice } = read('postgres://a,b/x?sslmode=require');
      expect(advice).to.have.length(2);
      expect(advice[0]).to.match(
        /^sslmode=require is read as verify-full: .* Write sslmode=verify-full, or sslmode=no-verify /,
      );
      expect(advice[1]).to.match(/add target_session_attrs=read-write\.$/);
      expect(read('postgres://h', { PGSSLMODE: 'prefer' }).advice[0]).to.match(
        /^PGSSLMODE=prefer is read as /,
      );
      expect(read('postgres://a,b/x?sslmode=verify-full&target_session_attrs=any').advice).to.have.length(1);
      expect(read('postgres://h/x?sslmode=no-verify').advice).to.deep.equal([]);
    });

    it('takes no wish for a primary from the environment, and gives no such advice, where it is a replica', () => {
      const environment = { PGTARGETSESSIONATTRS: 'read-write' };
      expect(read('postgres://h/x', environment).server).to.have.property('sessionAttributes', 'read-write');
      const replica = { isReplica: true };
      expect(read('postgres://h/x', environment, replica).server).not.to.have.property('sessionAttributes');
      expect(read('postgres://a,b/x', environment, replica).advice).to.deep.equal([]);
    });
  });
});
