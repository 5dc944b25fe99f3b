/** The root hooks of the tests, run over tests that leave something behind: whatever it is, a test or its file fails. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { startPostgres } from '../support/postgres.js';

/** Mocha's reporter for programs. */
interface Report {
  readonly passes: readonly { readonly fullTitle: string }[];
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message: string } }[];
}

const ARGUMENTS = [
  require.resolve('mocha/bin/mocha.js'),
  ...['--no-config', '--exit', '--timeout', '20000', '--reporter', 'json'],
  ...['--require', join(__dirname, '../support/mocha-hooks.js'), join(__dirname, 'untidy.js')],
];
const LEAK = 'GET / was answered with 409, which shows a message of PostgreSQL: violates';
const AFTER = '"after all" hook: leaves nothing behind for';

/** The beginning of each error. */
const FAILURES: Readonly<Record<string, string>> = {
  'answers leak to fetch': LEAK,
  'answers leak to http.get': LEAK,
  'answers leak to supertest': LEAK,
  'answers leak to a socket': LEAK,
  'answers leak in a process':
    'GET / was answered with 500, which shows an error of a library: SequelizeDatabaseError',
  'answers may not show it in the next test': LEAK,
  'a process has a stray rejection': 'A rejected promise was not handled: Error: stray',
  'a process has too many listeners': 'A process warning: MaxListenersExceededWarning',
  'a process uses what is deprecated': 'A process warning: DeprecationWarning DEP9999 old',
  'a process has a child that warns': 'A process warning: Warning  careful',
  'a pool "after each" hook: gives connections back for "has a connection in use"':
    'Connections are still in use: [{"size":1,"using":1,"waiting":0}]',
  [`a server ${AFTER} "goes on listening"`]: 'Handles are left: 1 TCPServerWrap',
  [`a client ${AFTER} "is in a transaction"`]:
    'Connections are idle in a transaction: [{"datname":"postgres"',
};

describe('tests that leave something behind', () => {
  it('[E13 G1] fail, each for itself, and no other', async () => {
    const { url } = await startPostgres();
    const child = spawn(process.execPath, ARGUMENTS, {
      env: { ...process.env, DATABASE_URL: url, CRUD_TEST_PATIENCE: '50', NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { passes, failures } = (await json(child.stdout)) as Report;
    const told = failures.map(({ fullTitle, err: { message } }) => {
      const beginning = FAILURES[fullTitle] ?? '';
      return [fullTitle, message.startsWith(beginning) ? beginning : message];
    });
    expect(Object.fromEntries(told)).to.deep.equal(FAILURES);
    expect(passes.map(({ fullTitle }) => fullTitle)).to.deep.equal([
      'answers may show what is allowed',
      'answers may show what the client has said',
      'a process is tidy',
      'a pool has a connection in use',
      'a server goes on listening',
      'a client is in a transaction',
    ]);
  });
});
