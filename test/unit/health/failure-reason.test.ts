/** The reason that is shown for an error: never its own words. */
import { expect } from 'chai';
import { failureReason } from '../../../src/health/check-health.js';

function coded(code: string, message = 'ann@db.internal: secret', others: object = {}): Error {
  return Object.assign(new Error(message), { code, ...others });
}

describe('failureReason', () => {
  const reasons: readonly (readonly [string, unknown, string])[] = [
    ['a refused connection', coded('ECONNREFUSED'), 'connection refused'],
    ['a reset', coded('ECONNRESET'), 'connection lost'],
    ['an unknown host', coded('ENOTFOUND'), 'host not found'],
    ['a wrong password of PostgreSQL', coded('28P01'), 'authentication failed'],
    ['a missing database of PostgreSQL', coded('3D000'), 'no such database'],
    ['a PostgreSQL that starts', coded('57P03'), 'starting up or shutting down'],
    ['a PostgreSQL that is stopped', coded('57P01'), 'starting up or shutting down'],
    ['a PostgreSQL that crashes', coded('57P02'), 'starting up or shutting down'],
    ['a full PostgreSQL', coded('53300'), 'too many connections'],
    ['a wrong password of ClickHouse', coded('516'), 'authentication failed'],
    ['a missing database of ClickHouse', coded('81'), 'no such database'],
    ['a wrong password of Redis', new Error('WRONGPASS invalid username-password'), 'authentication failed'],
    ['a missing password of Redis', new Error('NOAUTH Authentication required.'), 'authentication failed'],
    ['a Redis that loads', new Error('LOADING Redis is loading the dataset'), 'starting up or shutting down'],
    ['a connection that ended', new Error('Connection terminated unexpectedly'), 'connection lost'],
    ["ioredis's limit for a command", new Error('Command timed out'), 'timed out'],
    ["a driver's own timeout", new Error('Timeout error.'), 'timed out'],
    ['another error', new Error('ann@db.internal: secret'), 'failed'],
    ['an error with an unknown code', coded('ESECRET'), 'failed'],
    ['a code that every object has', coded('constructor'), 'failed'],
    ['a word that every object has', new Error('constructor of db.internal'), 'failed'],
    ['no error at all', undefined, 'failed'],
    ['null', null, 'failed'],
    ['a text', 'ECONNREFUSED', 'failed'],
    ['a cause', new Error('secret', { cause: coded('ECONNREFUSED') }), 'connection refused'],
    ['several addresses', new AggregateError([coded('ECONNREFUSED')], 'secret'), 'connection refused'],
    ['the last node of ioredis', coded('', '', { lastNodeError: coded('ECONNRESET') }), 'connection lost'],
  ];

  for (const [what, error, reason] of reasons) {
    it(`says '${reason}' of ${what}`, () => expect(failureReason(error)).to.equal(reason));
  }

  it('ends on errors that cause each other', () => {
    const first = new Error('secret');
    const second = new Error('secret', { cause: first });
    first.cause = second;
    expect(failureReason(first)).to.equal('failed');
  });
});
