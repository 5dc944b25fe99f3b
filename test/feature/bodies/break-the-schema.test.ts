/** Bodies that are JSON and do not fit the model: every problem at once, none of them with its value. */
// @runs fast

import { expect } from 'chai';
import { Transform } from 'class-transformer';
import { IsEmail, IsOptional, Matches, Max, MinLength, ValidateIf } from 'class-validator';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'items', timestamps: false })
class Item extends NumberedManyTypes {
  @Column(DataType.DECIMAL(5, 2)) declare price: string | null;
  @Column(DataType.TEXT) declare text: string | null;
  @Column(DataType.ARRAY(DataType.STRING(3))) declare codes: string[] | null;
}

@Table({ tableName: 'groups', timestamps: false })
class Group extends NumberedRow {}

@Crud()
@Table({ tableName: 'accounts', timestamps: false })
class Account extends NumberedRow {
  @IsEmail()
  @Transform(({ value }) => (typeof value === 'string' ? value.trim() : value), { toClassOnly: true })
  @Column({ type: DataType.STRING(40), allowNull: false })
  declare email: string;

  @MinLength(3)
  @Matches(/^[a-z]+$/, { message: '$value is not of small letters' })
  @Column({ type: DataType.STRING(10), allowNull: false })
  declare name: string;

  @Max(150)
  @IsOptional()
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 18 })
  declare age: number;

  @ValidateIf((account: { age?: number }) => (account.age ?? 18) < 18)
  @MinLength(1)
  @Column({ type: DataType.STRING(20) })
  declare guardian: string | null;

  @Column({ type: DataType.STRING(20), validate: { notIn: { args: [['admin', 'root']], msg: 'is taken' } } })
  declare login: string | null;

  @ForeignKey(() => Group) @Column(DataType.INTEGER) declare groupId: number | null;
  @BelongsTo(() => Group) declare group?: Group;
}

const UUID_RULE = 'uuid must be a UUID.';
const MOMENT_RULE =
  'moment must be an RFC 3339 date and time with an offset and at most milliseconds, such as "2026-01-31T08:00:00.000Z".';
const DAY_RULE = 'day must be a date such as "2026-01-31".';
const TIME_RULE = 'time must be a time of day such as "08:00:00".';
const BIG_RULE =
  'big must be a string holding an integer of at most 64 bits, such as "42" (JSON numbers would be rounded).';
const PRICE_RULE =
  'price must be a string holding a decimal number with at most 3 digits before the point and 2 after it, such as "12.5" (JSON numbers would be rounded).';
const BYTES_RULE = 'bytes must be a string of base64 (RFC 4648, section 4) with padding, such as "aGVsbG8=".';
const EACH = 'must hold only values of which each';
const LENGTH = 'must be at most';
const TEXT_RULE = 'text must be well-formed text without NUL characters.';
const JSON_RULE =
  'jsonb must not hold NUL characters, lone surrogates, or keys named __proto__, constructor or prototype.';

/** An attribute, values that its column refuses, and the detail of each problem; `unit/schema/wire-value` has more of them. */
type Broken = readonly [attribute: string, values: readonly unknown[], code: string, detail: string];
const BROKEN: readonly Broken[] = [
  ['small', [1.5, '1', true, [], {}, [1]], 'isInt', 'small must be an integer.'],
  ['small', [32768, 1e308], 'max', 'small must not be greater than 32767.'],
  ['small', [-32769], 'min', 'small must not be less than -32768.'],
  ['whole', [2147483648, 2 ** 53], 'max', 'whole must not be greater than 2147483647.'],
  ['whole', [-2147483649], 'min', 'whole must not be less than -2147483648.'],
  ['big', [1, '1.0', '9223372036854775808'], 'isBigint', BIG_RULE],
  ['price', [1.5, '1000', '1.234', '1e400', 'Infinity'], 'isDecimal', PRICE_RULE],
  ['real', ['1', true, []], 'isNumber', 'real must be a number.'],
  ['real', [3.5e38, -1e300], 'max', 'real is beyond the range of the column.'],
  ['flag', ['true', 1, 0, ''], 'isBoolean', 'flag must be true or false.'],
  ['moment', ['2024-02-30T00:00:00Z', '2026-01-31T08:00:00', 'now', 1.7e12], 'isDateTime', MOMENT_RULE],
  ['day', ['2023-02-29', 'today', 20260131], 'isDate', DAY_RULE],
  ['time', ['24:00:01', 'noon', 8], 'isTime', TIME_RULE],
  ['uuid', ['1', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 1], 'isUuid', UUID_RULE],
  ['colour', ['blue', 'Red', '', 0, ['red']], 'isIn', "colour must be one of red, dark green, o'clock."],
  ['bytes', ['a', 'AP-AYQ==', 1], 'isBase64', BYTES_RULE],
  ['text', [1, true, {}, []], 'isString', 'text must be a string.'],
  ['text', ['a\0b', '\ud800', '\udc00x'], 'isStorableText', TEXT_RULE],
  [
    'short',
    ['123456', '🙂'.repeat(6), `a${'\ufe0f'.repeat(1000)}`],
    'maxLength',
    `short ${LENGTH} 5 characters long.`,
  ],
  ['jsonb', ['\0', { a: ['\ud800'] }, { 'a\0': 1 }], 'isStorableJson', JSON_RULE],
  ['numbers', [1, '1', {}, '{1,2}'], 'isArray', 'numbers must be an array.'],
  ['numbers', [['1'], [1.5], [['1']]], 'isIntEach', `numbers ${EACH} must be an integer.`],
  ['codes', [['abcd']], 'maxLengthEach', `codes ${EACH} ${LENGTH} 3 characters long.`],
];

describe('[A9] breaking the schema', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Item, Account, Group],
    engine: { logging: sql.record },
    bootstrap: { models: [Item, Account] },
  }));

  const post = (body: object) => site.agent.post('/items').send(body);

  beforeEach(() => emptyTables(site, 'items', 'accounts', 'groups'));

  describe('of a column', () => {
    for (const [attribute, values, code, detail] of BROKEN) {
      for (const value of values) {
        it(`[B10] refuses ${attribute} ${JSON.stringify(value).slice(0, 50)}`, async () => {
          const { result, statements } = await sql.during(() => post({ [attribute]: value }));
          expectIssue(result, 422, { pointer: `/${attribute}`, code, detail });
          expect(statements).to.deep.equal([]);
        });
      }
    }

    it('[B6 B7 B9] refuses the same in an update', async () => {
      await Item.create();
      for (const [attribute, [value], code, detail] of BROKEN) {
        const response = await site.agent.patch('/items/1').send({ [attribute]: value });
        expectIssue(response, 422, { pointer: `/${attribute}`, code, detail });
      }
    });

    it('[B6] refuses a number that JSON can write and no column can hold', async () => {
      const response = await site.agent.post('/items').type('json').send('{"real":1e999}');
      expectProblem(response, 422, {
        detail: 'The body has 2 problems.',
        errors: [
          { pointer: '/real', code: 'isNumber', detail: 'real must be a number.' },
          { pointer: '/real', code: 'max', detail: 'real is beyond the range of the column.' },
        ],
      });
    });

    it('names every problem at once, in the order of unknown and known properties', async () =>
      expectProblem(await post({ small: 'x', colour: 'blue', nothing: 1, whole: 1, day: 'x' }), 422, {
        detail: 'The body has 4 problems.',
        errors: [
          {
            pointer: '/nothing',
            code: 'unknownProperty',
            detail:
              'There is no such property. The properties are small, whole, big, exact, unlimited, real, double, flag, moment, day, time, uuid, jsonb, colour, bytes, short, words, numbers, decimals, moments, uuids, sizes, price, text, codes.',
          },
          { pointer: '/small', code: 'isInt', detail: 'small must be an integer.' },
          { pointer: '/day', code: 'isDate', detail: DAY_RULE },
          { pointer: '/colour', code: 'isIn', detail: "colour must be one of red, dark green, o'clock." },
        ],
      }));
  });

  describe('[C2] by an unknown property', () => {
    it('suggests the one that was meant', async () => {
      const body = { email: 'a@b.example', name: 'ann', loign: 'ann' };
      const detail =
        "There is no such property. Did you mean 'login'? The properties are email, name, age, guardian, login, groupId.";
      const issue = { pointer: '/loign', code: 'unknownProperty', detail };
      expectIssue(await site.agent.post('/accounts').send(body), 422, issue);
    });

    const ofModel = ['Email', 'group', 'include', 'dataValues', 'isAdmin', 'then', 'password', 'save', ''];
    const ofObjects = ['toString', 'hasOwnProperty', 'isPrototypeOf', '__defineGetter__', 'constructor'];
    for (const name of [...ofModel, ...ofObjects, 'prototype', 'valueOf']) {
      it(`refuses ${name || 'an empty name'}`, async () => {
        const body = { email: 'a@b.example', name: 'ann', [name]: {} };
        const response = await site.agent.post('/accounts').send(body);
        expect(response.body.errors).to.have.lengthOf(1);
        expect(response.body.errors[0]).to.include({ pointer: `/${name}`, code: 'unknownProperty' });
        expect(response.status).to.equal(422);
        expect(await Account.count()).to.equal(0);
      });
    }

    it('escapes its name in the pointer', async () => {
      const { body } = await post({ 'a/b~c': 1 });
      expect(body.errors).to.have.lengthOf(1);
      expect(body.errors[0].pointer).to.equal('/a~1b~0c');
    });

    it('does not name ten thousand of them', async () => {
      const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`p${index}`, 1]));
      const { body, status } = await post(many);
      expect(status).to.equal(422);
      expect(body.errors).to.have.lengthOf(100);
    });
  });

  describe('by a key that would change a prototype', () => {
    const BODIES = [
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{"polluted":true}}}',
      '{"jsonb":{"__proto__":{"polluted":true}}}',
      '{"jsonb":{"constructor":{"prototype":{"polluted":true}}}}',
      '{"jsonb":[{"a":{"prototype":{"polluted":true}}}]}',
      '{"jsonb":[[{"__proto__":[],"100000000":"x"}]]}',
      '{"jsonb":{"constructor":null}}',
      '{"text":{"__proto__":"x"}}',
      '{"codes":["a",{"constructor":{}}]}',
    ];
    for (const body of BODIES) {
      it(`[C5] refuses ${body}, and no prototype has changed`, async () => {
        const response = await site.agent.post('/items').type('json').send(body);
        expect(response.status).to.equal(422);
        expect(response.body.errors).to.have.lengthOf(1);
        expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
        expect(Object.keys(Object.prototype)).to.deep.equal([]);
        expect(await Item.count()).to.equal(0);
      });
    }
  });

  describe('of the decorators of the model', () => {
    const valid = { email: 'a@b.example', name: 'ann' };
    const create = (values: object) => site.agent.post('/accounts').send({ ...valid, ...values });

    it('takes what keeps them', async () => {
      const whole = { id: 1, ...valid, age: 17, guardian: 'Bob', login: null, groupId: null };
      expectJson(await create({ email: ' a@b.example ', age: 17, guardian: 'Bob' }), 201, whole);
    });

    for (const [what, values, ...issues] of [
      ['what breaks a validator', { email: 'nobody' }, ['email', 'isEmail', 'email must be an email.']],
      [
        'a value that the message of a validator repeats, without repeating it',
        { name: 'Secret-9' },
        ['name', 'matches', 'name is not valid.'],
      ],
      [
        'null, for which @IsOptional is no permission',
        { age: null },
        ['age', 'isDefined', 'age must not be null.'],
      ],
      ['what is too much', { age: 151 }, ['age', 'max', 'age must not be greater than 150.']],
      ['what breaks a rule of Sequelize', { login: 'root' }, ['login', 'notIn', 'is taken']],
      [
        'what breaks several validators, for each of them',
        { name: 'A' },
        ['name', 'minLength', 'name must be longer than or equal to 3 characters.'],
        ['name', 'matches', 'name is not valid.'],
      ],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const { status, body } = await create(values);
        expect(status).to.equal(422);
        expect(body.errors).to.have.deep.members(
          issues.map(([name, code, detail]) => ({ pointer: `/${name}`, code, detail })),
        );
      });
    }

    it('checks in an update only what is given', async () => {
      await create({});
      expect((await site.agent.patch('/accounts/1').send({ age: 20 })).status).to.equal(200);
      const issue = { pointer: '/email', code: 'isEmail', detail: 'email must be an email.' };
      expectIssue(await site.agent.patch('/accounts/1').send({ email: 'nobody' }), 422, issue);
    });
  });
});
