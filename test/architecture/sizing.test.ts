/** The page on sizing names defaults: each is that of the source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';

const ENGINE = 'engine-lifespan.ts';
const SERVER = 'express/server/express-server.ts';

/** The rows of its table of limits: the file of `src` with the default, a pattern of its code, and the number of its units in the unit of the page. */
const LIMITS: Readonly<Record<string, readonly [file: string, code: RegExp, unit: number]>> = {
  'connections of a pool': [ENGINE, /POOL = [^}]*\bmax: ([\d_]+)/, 1],
  'wait for a connection of the pool': [ENGINE, /POOL = [^}]*\bacquire: ([\d_]+)/, 1_000],
  'opening a connection': [ENGINE, /connectionTimeoutMillis: ([\d_]+)/, 1_000],
  'wait for a lock': [ENGINE, /\block_timeout: ([\d_]+)/, 1_000],
  'a statement, on the server': [ENGINE, /\bstatement_timeout: ([\d_]+)/, 1_000],
  'a statement, until the answer is here': [ENGINE, /\bquery_timeout: ([\d_]+)/, 1_000],
  'a transaction that does nothing': [ENGINE, /idle_in_transaction_session_timeout: ([\d_]+)/, 1_000],
  'prepared statements of a connection': [
    'postgres/protocol/prepared-statement.ts',
    /MAX_STATEMENTS = ([\d_]+)/,
    1,
  ],
  'connections that cheap reads share': ['postgres/connections/lanes.ts', /LANES = ([\d_]+)/, 1],
  'records of a page': ['compile/compile-options.ts', /DEFAULT_PAGE_SIZE[^}]*\bmax: ([\d_]+)/, 1],
  'records of one request that writes many': ['features/bulk/bulk-options.ts', /DEFAULT_MAX = ([\d_]+)/, 1],
  'a body': ['request/read-body.ts', /DEFAULT_LIMIT = ([\d_]+) \* 1024/, 1],
  'a file that is imported': ['features/import/import-options.ts', /maxBytes: ([\d_]+) \* 1024/, 1],
  'imports of a process at once': [
    'features/import/handle-import.ts',
    /IMPORTS = new WorkLimit\(([\d_]+)/,
    1,
  ],
  'requests under way of one connection': ['express/connection/open-connection.ts', /MAX_OPEN = ([\d_]+)/, 1],
  'headers of a request': [SERVER, /headersTimeout: ([\d_]+)/, 1_000],
  'a whole request': [SERVER, /requestTimeout: ([\d_]+)/, 1_000],
  "a client's connection at rest": [SERVER, /keepAliveTimeout: ([\d_]+)/, 1_000],
  'requests under way when the process stops': [
    'express/server/serve.ts',
    /SHUTDOWN_TIMEOUT = ([\d_]+)/,
    1_000,
  ],
};

const page = readFileSync(join(PACKAGE_ROOT, 'docs/sizing.md'), 'utf8');

function inSource(file: string, code: RegExp): number {
  const [, number = ''] = code.exec(readFileSync(join(PACKAGE_ROOT, 'src', file), 'utf8')) ?? [];
  return Number(number.replaceAll('_', '') || Number.NaN);
}

describe('the page on sizing', () => {
  const [, table = ''] = page.split('| limit | default |');
  const [limits = ''] = table.split('\n\n');
  const rows = limits
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .flatMap(([, limit, value]) => (limit && value ? [[limit, Number.parseFloat(value)] as const] : []));

  it('names the limits that are known here', () => {
    expect(rows.map(([limit]) => limit)).to.deep.equal(Object.keys(LIMITS));
  });

  for (const [limit, [file, code, unit]] of Object.entries(LIMITS)) {
    it(`has the default of ${limit}`, () => {
      expect(new Map(rows).get(limit)).to.equal(inSource(file, code) / unit);
    });
  }

  it('counts the connections of a process with the defaults', () => {
    const connections = 2 * inSource(ENGINE, /POOL = [^}]*\bmax: ([\d_]+)/);
    expect(page).to.include(`a process with the defaults opens ${connections} connections at most`);
  });
});
