/** The scanner of error answers: texts that it finds, and texts that it lets pass. */

import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { findLeak } from '../../support/find-leak.js';

const problem = (detail: string) => JSON.stringify({ detail });
const thrown = new Error('x').stack ?? '';

describe('[G1] the scanner of error answers', () => {
  for (const [what, body] of [
    ['a statement', problem('SELECT "id" FROM "cities" WHERE "id" = $1')],
    ['a write', problem('UPDATE "cities" SET "name" = $1')],
    ['a constraint', problem('duplicate key value violates unique constraint "cities_name_key"')],
    ['the name of a constraint alone', problem('cities_pkey')],
    ['a relation', problem('relation "cities" does not exist')],
    ['a column', problem('column cities.nmae does not exist')],
    ['an error of Sequelize', problem('SequelizeUniqueConstraintError')],
    ['an error of the network', problem('connect ECONNREFUSED')],
    ['bound values', JSON.stringify({ parameters: [1] })],
    ['a stack', JSON.stringify({ stack: thrown })],
    ['frames in a text', problem(thrown)],
    ['frames in HTML', thrown.replaceAll('\n', '<br>').replaceAll('    ', ' &nbsp; &nbsp;')],
    ['a frame on a line of its own', 'Error: x\n    at Object.<anonymous> (x.js:1:1)'],
    ['a file', problem(`Cannot find module in ${process.cwd()}`)],
    ['a file of a package', problem('node_modules/pg/lib/client.js')],
    ['a place in a file', problem('client.js:12')],
    ['a temporary file', problem(`no ${tmpdir()}/x`)],
    ['a DSN', problem('postgres://x')],
    ['a host', problem('no answer from 127.0.0.1:5432')],
    ['a refused log-in', problem('password authentication failed for user "postgres"')],
  ] as const) {
    it(`finds ${what}`, () => expect(findLeak(body)).to.be.a('string'));
  }

  it('finds a secret wherever it is', () =>
    expect(findLeak('{"detail":"a-hunter2-b"}', ['hunter2'])).to.equal('a secret: hunter2'));

  for (const body of [
    '{"detail":"Internal Server Error"}',
    '{"detail":"The database is not available; try again."}',
    '{"detail":"There is no City with this id."}',
    '{"detail":"The query string has 2 problems.","errors":[{"parameter":"sort","code":"sort.field","detail":"Cannot sort by \'x\'. Allowed are id, name."}]}',
    '{"detail":"Select at most 10.","errors":[{"pointer":"/at","code":"isDate","detail":"at must be a date."}]}',
  ]) {
    it(`lets ${body} pass`, () => expect(findLeak(body)).to.equal(undefined));
  }

  it('lets pass what the client has said itself, and nothing beside it', () => {
    const body = problem("Cannot sort by 'SELECT'.");
    expect(findLeak(body, [], '/cities?sort=SELECT')).to.equal(undefined);
    expect(findLeak(problem('SELECT, violates'), [], 'SELECT')).to.equal('a message of PostgreSQL: violates');
  });
});
