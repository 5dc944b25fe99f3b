import { expect } from 'chai';
import { DatabaseError as PgError } from 'pg';
import {
  AccessDeniedError,
  ConnectionAcquireTimeoutError,
  ConnectionError,
  ConnectionRefusedError,
  ConnectionTimedOutError,
  DatabaseError,
  EagerLoadingError,
  EmptyResultError,
  ExclusionConstraintError,
  ForeignKeyConstraintError,
  HostNotFoundError,
  HostNotReachableError,
  InvalidConnectionError,
  OptimisticLockError,
  UniqueConstraintError,
  UnknownConstraintError,
  ValidationError,
  ValidationErrorItem,
} from 'sequelize';
import { describeFault, type FaultKind } from '../../../src/errors/database-fault.js';

const SECRET = 'hunter22';

/** An error that PostgreSQL reports, as pg makes it. */
function serverError(code: string, fields: Partial<PgError> = {}): PgError & { sql: string } {
  const error = new PgError(`a message with ${SECRET}`, 100, 'error');
  return Object.assign(error, {
    code,
    severity: 'ERROR',
    detail: `Key (email)=(${SECRET}) already exists.`,
    sql: `INSERT … '${SECRET}'`,
    ...fields,
  });
}

/** An error of Node or pg, without an answer of the server. */
function plainError(message: string, code?: string): Error & { sql: string } {
  return Object.assign(new Error(message), code === undefined ? {} : { code }, { sql: 'SELECT 1' });
}

/** Sequelize itself leaves the last arguments out; its types do not. */
const Item = ValidationErrorItem as unknown as new (
  message: string,
  ...rest: unknown[]
) => ValidationErrorItem;

function faultOf(kind: FaultKind, names: object = {}) {
  return { kind, constraint: null, table: null, column: null, isRetryable: false, violations: [], ...names };
}

describe('describeFault', () => {
  describe('by SQLSTATE', () => {
    const CODES = {
      unique: '23505',
      foreignKey: '23503 23001',
      exclusion: '23P01',
      invalid: '23502 23514 44000 22001 22003 22007 22008 22021 22023 22025 22P02 22P05 2201B',
      concurrent: '40001 40P01',
      locked: '55P03',
      refused: 'P0001',
      unavailable:
        '25P04 40003 57P04 58030 08000 08006 08P01 53100 53200 53300 57P01 57P02 57P03 57P05 25P03',
      timeout: '57014',
      readOnly: '25006',
      unexpected: '25P02 42501 42601 42P01 42703 XX000 99999',
    } as const;
    for (const [code, kind] of Object.entries(CODES).flatMap(([kind, codes]) =>
      codes.split(' ').map((code) => [code, kind as FaultKind] as const),
    )) {
      it(`takes ${code} for ${kind}, wrapped by Sequelize or not`, () => {
        const error = serverError(code);
        const fault = faultOf(kind, { isRetryable: kind === 'concurrent' });
        for (const each of [error, new DatabaseError(error)])
          expect(describeFault(each)).to.deep.equal(fault);
      });
    }

    it('keeps the names that the server gives, and nothing else', () => {
      const names = { constraint: 'users_email_key', table: 'users', column: 'email' };
      const fault = describeFault(new DatabaseError(serverError('23505', names)));
      expect(fault).to.deep.equal(faultOf('unique', names));
      expect(JSON.stringify(fault)).not.to.include(SECRET);
    });

    it('takes names that are no texts for missing', () => {
      const names = { constraint: 5, table: null, column: {} } as object;
      expect(describeFault(serverError('23514', names))).to.deep.equal(faultOf('invalid'));
    });
  });

  describe('in the classes of Sequelize', () => {
    const names = { constraint: 'a_b_key', table: 'a', column: null };
    const unnamed = { constraint: 'a_b_key', table: 'a' };

    for (const [error, expected] of [
      [
        new UniqueConstraintError({
          parent: serverError('23505', unnamed),
          errors: [new Item('email must be unique', 'unique violation', 'email', SECRET, null, 'not_unique')],
        }),
        faultOf('unique', names),
      ],
      [
        new ForeignKeyConstraintError({ parent: serverError('23503', unnamed), table: 'b' }),
        faultOf('foreignKey', names),
      ],
      [new ExclusionConstraintError({ parent: serverError('23P01', unnamed) }), faultOf('exclusion', names)],
      [new UnknownConstraintError({ parent: serverError('42704', unnamed) }), faultOf('unexpected', names)],
      [new OptimisticLockError({ modelName: 'Article', values: { title: SECRET } }), faultOf('concurrent')],
      [new EagerLoadingError('x is not associated to y'), faultOf('unexpected')],
    ] as const) {
      it(`understands ${error.name}`, () => expect(describeFault(error)).to.deep.equal(expected));
    }

    for (const [error, label] of [
      [new ConnectionAcquireTimeoutError(plainError('Operation timeout')), 'a full pool'],
      [new ConnectionError(plainError('timeout expired')), 'a connect that takes too long'],
      [new ConnectionError(plainError('Connection terminated unexpectedly')), 'a lost connection'],
      [new ConnectionRefusedError(plainError('connect', 'ECONNREFUSED')), 'a refused connection'],
      [new ConnectionTimedOutError(plainError('connect', 'ETIMEDOUT')), 'a timed out connection'],
      [new HostNotFoundError(plainError('getaddrinfo', 'ENOTFOUND')), 'an unknown host'],
      [new HostNotReachableError(plainError('connect', 'EHOSTUNREACH')), 'an unreachable host'],
      [new InvalidConnectionError(plainError('connect', 'EINVAL')), 'an invalid address'],
      [new AccessDeniedError(serverError('28P01')), 'a changed password'],
      [new ConnectionError(serverError('53300')), 'too many connections'],
      [new ConnectionError(serverError('3D000')), 'a missing database'],
    ] as const) {
      it(`takes ${error.name} for ${label}: unavailable`, () =>
        expect(describeFault(error)).to.deep.equal(faultOf('unavailable')));
    }

    const expectDuring = (kind: FaultKind, message: string, code?: string) =>
      expect(describeFault(new DatabaseError(plainError(message, code))), message).to.deep.equal(
        faultOf(kind),
      );

    it('understands what is wrong with a connection during a query', () => {
      for (const [message, code] of [
        ['read', 'ECONNRESET'],
        ['write', 'EPIPE'],
        ['getaddrinfo', 'EAI_AGAIN'],
        ['Connection terminated'],
        ['Connection terminated unexpectedly'],
        ['Client has encountered a connection error and is not queryable'],
        ['Client was closed and is not queryable'],
      ] as const)
        expectDuring('unavailable', message, code);
    });

    it("takes pg's own timeout for one, and any other error of the driver for unexpected", () => {
      expectDuring('timeout', 'Query read timeout');
      expectDuring('unexpected', 'bind message');
      expectDuring('unexpected', 'x', 'toString');
      expectDuring('unexpected', 'x', 'ERR_X');
    });
  });

  it('understands a validation without an attribute, a rule or a value that JSON has', () => {
    const item = new Item('wrong');
    const big = new Item('5000n', 'Validation error', 'count', 5000n);
    const { violations } = describeFault(new ValidationError('', [item, big])) ?? {};
    expect(violations).to.deep.equal([
      { attribute: null, rule: 'validate', message: 'wrong' },
      { attribute: 'count', rule: 'validate', message: 'count is not valid' },
    ]);
  });

  describe('of what is not about a database', () => {
    for (const [label, error] of [
      ['null', null],
      ['undefined', undefined],
      ['a text', '23505'],
      ['a number', 23505],
      ['an error', new Error('x')],
      ['an error with a code', plainError('x', 'ECONNREFUSED')],
      ['an error with a SQLSTATE but no severity', plainError('x', '23505')],
      ['an error with a parent of its own', Object.assign(new Error('x'), { parent: { code: 'x' } })],
      ['an object with a parent of its own', { parent: { parent: {} } }],
      ['an empty result, which is for its caller', new EmptyResultError('x')],
    ] as const) {
      it(`is null for ${label}`, () => expect(describeFault(error)).to.equal(null));
    }

    it('still understands what another copy of Sequelize threw', () => {
      for (const [parent, kind] of [
        [serverError('23505'), 'unique'],
        [plainError('connect', 'ECONNREFUSED'), 'unavailable'],
      ] as const) {
        expect(describeFault(Object.assign(new Error('x'), { parent }))).to.deep.equal(faultOf(kind));
      }
    });

    it("still understands pg's words without an error of Sequelize around them", () => {
      for (const words of [
        'Connection terminated unexpectedly',
        'ConnectionManager.getConnection was called after the connection manager was closed!',
      ])
        expect(describeFault(new Error(words))).to.deep.equal(faultOf('unavailable'));
    });
  });
});
