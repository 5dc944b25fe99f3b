import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsString, ValidationError, validate } from 'class-validator';
import { BadRequestError, HttpError } from 'routing-controllers';
import { DatabaseError, DataTypes, ValidationError as RuleError, ValidationErrorItem } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import type { ResourcePlan } from '../../../src/compile/resource-plan.js';
import { ofItem } from '../../../src/respond/item-problem.js';
import { toProblem } from '../../../src/respond/problem.js';
import { caughtError } from '../../support/caught-error.js';
import { attach, defineModel, planOf } from '../../support/offline-models.js';

const UNEXPECTED = { status: 500, detail: 'Internal Server Error' };
const SECRET = 'hunter22';

/** A database error as it arrives: by Sequelize, with all that must not leave. */
function databaseError(code: string, fields: object = {}): DatabaseError {
  const parent = Object.assign(new Error(`violates … ${SECRET}`), {
    code,
    severity: 'ERROR',
    detail: `Key (email)=(${SECRET})`,
    sql: `INSERT … '${SECRET}'`,
    ...fields,
  });
  return new DatabaseError(parent);
}

/** An error as http-errors makes it. */
function middlewareError(fields: object, message = 'a message'): Error {
  return Object.assign(new Error(message), fields);
}

@Table({ timestamps: false, tableName: 'users' })
class User extends Model {
  @Column({ type: DataType.STRING, unique: true }) declare email: string;
  @Column({ type: DataType.INTEGER, field: 'team_id' }) declare teamId: number;
  @Exclude() @Column(DataType.STRING) declare secret: string;
}
const plan = planOf(attach(User));

describe('toProblem', () => {
  // Others are thrown in `errors/throw-from-a-controller`.
  describe('of anything that can be thrown', () => {
    for (const [label, thrown] of [
      ['a BigInt', 404n],
      ['an array', [404]],
      ['an object without a prototype', Object.create(null)],
      ['a TypeError', new TypeError(SECRET)],
      ['an error without a message', new Error()],
      ['an HTTP code that is none', { httpCode: '404', message: SECRET }],
      ['an HTTP code of success', { httpCode: 200, message: SECRET }],
      ['an HTTP code beyond all', { httpCode: 600, message: SECRET }],
      ['an HTTP code in between', { httpCode: 404.5, message: SECRET }],
      ['a status that is none', middlewareError({ status: 302 }, SECRET)],
      ['a driver with a strange code', { parent: { code: 'toString' } }],
    ] as const) {
      it(`says nothing of ${label}`, () => expect(toProblem(thrown)).to.deep.equal(UNEXPECTED));
    }
  });

  describe('of database errors', () => {
    it('blames no q for a value that it does not have', () => {
      for (const context of [{ target: '/reports/x?q=free+text' }, { plan, target: '/users?q=email==x' }]) {
        const problem = toProblem(databaseError('22P02'), { ...context, isSafe: true });
        expect(problem).to.have.property('status', 422);
      }
    });

    for (const code of ['40001', '40P01', '55P03']) {
      it(`does not say of a request that only reads that ${code} is a conflict with the change of another`, () =>
        expect(toProblem(databaseError(code), { isSafe: true })).to.deep.equal({
          status: 503,
          detail: 'The database is busy; try again.',
          headers: { 'Retry-After': '1' },
        }));
    }

    it('does not name a hidden attribute that breaks a rule of Sequelize, unless a class of the user takes it', async () => {
      const rule: [string, string, unknown[]] = ['isEmail', 'isEmail', []];
      const item = (path: string) =>
        new ValidationErrorItem('is wrong', 'validation error', path, 'x', new User(), ...rule);
      const error = new RuleError('', [item('secret'), item('email')]);
      class WithSecret {
        @IsString() declare secret: string;
      }
      const pointers = (plan: ResourcePlan) =>
        toProblem(error, { plan }).errors?.map((each) => 'pointer' in each && each.pointer);
      expect(pointers(plan)).to.deep.equal(['/email']);
      expect(pointers(planOf(User, { createSchema: WithSecret }))).to.deep.equal(['/secret', '/email']);
    });

    it('points to the attribute of a failed rule of Sequelize, and to the body for one of the whole model', async () => {
      const Booking = defineModel(
        'Booking',
        { seats: { type: DataTypes.INTEGER, validate: { max: 5 } } },
        {
          validate: {
            complete(): void {
              throw new Error('something is missing');
            },
          },
        },
      );
      const error = await caughtError(() => Booking.build({ ...{ seats: 7 } }).validate());
      const { errors, ...problem } = toProblem(error, { plan: planOf(Booking) });
      expect(problem).to.deep.equal({ status: 422, detail: 'The database does not accept these values.' });
      const seats = { pointer: '/seats', code: 'max', detail: 'Validation max on seats failed' };
      const whole = { pointer: '', code: 'complete', detail: 'something is missing' };
      expect(errors).to.have.deep.members([seats, whole]);
      expect(toProblem(error).errors).to.deep.include(seats);
    });
  });

  describe('of HTTP errors', () => {
    it('tells them by their shape, whatever else they have', () => {
      const error = { httpCode: 404, message: 'No such page.', parent: { id: 5 } };
      expect(toProblem(error)).to.deep.equal({ status: 404, detail: 'No such page.' });
      expect(toProblem({ httpCode: 404 })).to.deep.equal({ status: 404, detail: 'Not Found' });
      expect(toProblem({ ...error, errors: ['stranger'] })).to.deep.equal(toProblem(error));
    });

    it('says nothing of what has failed in the parameters where the server is at fault', async () => {
      class Wrong {
        @IsString() name: unknown = 5;
      }
      const error = Object.assign(new HttpError(500, 'Oops.'), { errors: await validate(new Wrong()) });
      expect(toProblem(error)).to.deep.equal({ status: 500, detail: 'Oops.' });
    });

    it('says of a value without any rule that it is not known', async () => {
      class Unknown {}
      const errors = await validate(new Unknown(), { forbidUnknownValues: true });
      expect(toProblem(Object.assign(new BadRequestError(), { errors })).errors).to.deep.equal([
        { pointer: '', code: 'unknownValue', detail: 'an unknown value was passed to the validate function' },
      ]);
    });

    it('says that there are more problems than it tells', () => {
      const wrong = { property: 'name', constraints: { rule: 'is wrong' } };
      const all = new Array(101).fill(Object.assign(new ValidationError(), wrong));
      const { detail, errors } = toProblem(Object.assign(new BadRequestError(), { errors: all }));
      expect(errors).to.have.lengthOf(100);
      expect(detail).to.equal('There are more problems than are told; errors has the first 100.');
    });
  });

  it('trusts no message about a value that was hidden from it', async () => {
    class Login {
      @IsString({ message: '$value is no password' }) password: unknown = 4711;
    }
    const errors = await validate(new Login(), { validationError: { value: false } });
    expect(toProblem(Object.assign(new BadRequestError(), { errors }))).to.deep.equal({
      status: 400,
      detail: 'The request has problems.',
      errors: [{ pointer: '/password', code: 'isString', detail: 'password is not valid' }],
    });
  });

  describe('of errors of Express and its middleware', () => {
    for (const [label, error, expected] of [
      [
        'a status alone',
        middlewareError({ status: 503 }, SECRET),
        { status: 503, detail: 'Service Unavailable' },
      ],
      [
        'a message that is empty',
        middlewareError({ status: 413, expose: true }, ''),
        { status: 413, detail: 'Payload Too Large' },
      ],
      ['an unknown status', middlewareError({ status: 599 }, SECRET), { status: 599, detail: 'Error' }],
      [
        'a file that is too large',
        middlewareError({ name: 'MulterError', code: 'LIMIT_FILE_SIZE', field: 'photo' }, 'File too large'),
        { status: 413, detail: "Upload 'photo': File too large." },
      ],
      [
        'a form that ends too early',
        middlewareError({}, 'Unexpected end of form'),
        { status: 400, detail: 'The body could not be read; it is incomplete or not encoded as announced.' },
      ],
      ['a URIError of the application', new URIError(SECRET), UNEXPECTED],
    ] as const) {
      it(`answers ${label}`, () => expect(toProblem(error)).to.deep.equal(expected));
    }
  });
});

describe('ofItem', () => {
  const issue = { pointer: '/email', code: 'unique', detail: 'Taken.' };

  it('points to the whole body where nothing tells the item, and to nothing where nothing is told', () => {
    const problem = { status: 409, detail: 'Taken.', errors: [issue] };
    expect(ofItem(problem, 'unknown')).to.deep.equal({ ...problem, errors: [{ ...issue, pointer: '' }] });
    const bare = { status: 409, detail: 'Taken.' };
    expect(ofItem(bare, 'unknown')).to.equal(bare);
  });

  it('leaves what the server cannot do as it is', () => {
    for (const status of [500, 503]) {
      const problem = { status, detail: 'No.', headers: { 'Retry-After': '1' } };
      expect(ofItem(problem, 3)).to.equal(problem);
    }
  });
});
