/** class-validator's decorators on attributes: each checks the value of its own attribute, and may make it required. */
import { expect } from 'chai';
import {
  ArrayNotEmpty,
  Equals,
  IsBase64,
  IsBoolean,
  IsDate,
  IsDateString,
  IsDefined,
  IsDivisibleBy,
  IsEnum,
  IsIn,
  IsInt,
  IsJSON,
  IsNegative,
  IsNotEmpty,
  IsNotIn,
  IsNumber,
  IsNumberString,
  IsOptional,
  IsPositive,
  IsRFC3339,
  IsString,
  IsUUID,
  Length,
  Max,
  MaxDate,
  Min,
  MinDate,
  ValidateIf,
} from 'class-validator';
import { Column, DataType, Model, PrimaryKey, type Sequelize, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { SERVES_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

enum Level {
  Low = 1,
  High = 2,
}

@Crud()
@Table({ tableName: 'prices', timestamps: false })
class Price extends NumberedRow {
  @Min(0) @Max(0.3) @Column(DataType.DECIMAL(30, 20)) declare amount: string | null;

  @IsNumber({ maxDecimalPlaces: 2 })
  @IsPositive()
  @IsDivisibleBy(0.1)
  @Column(DataType.DECIMAL)
  declare rate: string | null;

  @IsInt() @IsNegative() @IsNotIn([-7]) @Column(DataType.DECIMAL) declare debt: string | null;

  @IsInt()
  @Max(9007199254740992)
  @IsNumberString()
  @Column(DataType.BIGINT)
  declare views: string | null;

  @IsEnum(Level) @Column(DataType.BIGINT) declare level: string | null;
  @IsIn([0.5, 1]) @Column(DataType.DECIMAL(5, 2)) declare share: string | null;

  @IsInt({ each: true })
  @Min(0, { each: true })
  @Column(DataType.ARRAY(DataType.BIGINT))
  declare steps: string[] | null;

  @IsDateString() @MinDate(new Date(0)) @Column(DataType.DATE) declare until: Date | null;
  @IsDate() @MaxDate(new Date('2030-01-01')) @Column(DataType.DATEONLY) declare day: string | null;
  @IsBase64() @Column(DataType.BLOB) declare seal: Buffer | null;
  @IsJSON() @Column(DataType.JSONB) declare notes: unknown;
  @MinDate(new Date(0)) @Column(DataType.DATE) declare begun: Date | null;
  @IsIn(['1.50', '2']) @Column(DataType.DECIMAL(5, 2)) declare size: string | null;
  @Min(0) @IsNumber({ allowInfinity: true }) @Column(DataType.DOUBLE) declare weight: number | null;
  @Min(0, { message: 'cost is too small' }) @Column(DataType.DECIMAL) declare cost: string | null;
}

const MANY = SERVES_MANY ? (['createMany', 'updateMany'] as const) : [];

@Crud({ endpoints: ['create', 'update', ...MANY] })
@Table({ tableName: 'firms', timestamps: false })
class Firm extends NumberedRow {
  @IsNotEmpty() @Column(DataType.TEXT) declare name: string | null;
  @IsDefined() @Length(2, 9) @Column(DataType.TEXT) declare city: string | null;
  @Column(DataType.TEXT) declare kind: string | null;

  @ValidateIf(({ kind }: Firm) => kind === 'company')
  @IsNotEmpty()
  @Column(DataType.TEXT)
  declare vat: string | null;

  @IsOptional() @IsNotEmpty() @Column(DataType.TEXT) declare note: string | null;
  @IsNotEmpty() @Column({ type: DataType.TEXT, defaultValue: 'new' }) declare state: string | null;
  @IsNotIn([null]) @Column(DataType.INTEGER) declare size: number | null;
  @ArrayNotEmpty() @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
  @Length(2, 9) @Column(DataType.TEXT) declare remark: string | null;
}

@Crud({ endpoints: ['create', 'replace', 'read'] })
@Table({ tableName: 'codes', timestamps: false })
class Code extends Model {
  @PrimaryKey @Column(DataType.STRING(9)) declare code: string;
  @IsNotEmpty() @Column(DataType.TEXT) declare label: string | null;
}

const RIGHT = { name: 'n', city: 'Lyon', size: 1, tags: ['a'] };

describe('a decorator of an attribute', () => {
  const site = serveTestApp(() => ({ models: [Price, Firm, Code] }));

  beforeEach(() => emptyTables(site, 'prices', 'firms', 'codes'));

  describe('[U7] sees the value that it is about', () => {
    const cases: readonly (readonly [
      name: string,
      right: readonly unknown[],
      wrong: Record<string, string>,
    ])[] = [
      [
        'amount',
        ['0', '0.3', '0.00', '0.29999999999999999999', '-0.0'],
        { '0.30000000000000000001': 'max', '-0.00000000000000000001': 'min', '5': 'max' },
      ],
      [
        'rate',
        ['0.1', '0.30', '12.300'],
        { '0.15': 'isDivisibleBy', '0.0': 'isPositive', '0.101': 'isNumber isDivisibleBy' },
      ],
      ['debt', ['-5', '-5.00'], { '-5.5': 'isInt', '-7.0': 'isNotIn', '5': 'isNegative' }],
      ['views', ['9007199254740992', '-3'], { '9007199254740993': 'max' }],
      ['level', ['1', '2'], { '3': 'isEnum' }],
      ['share', ['0.5', '0.50', '1.00'], { '0.51': 'isIn' }],
      ['until', ['2026-01-01T00:00:00Z'], { '1969-01-01T00:00:00Z': 'minDate' }],
      [
        'begun',
        ['infinity', '2026-01-01T00:00:00Z'],
        { '-infinity': 'minDate', '1969-01-01T00:00:00Z': 'minDate' },
      ],
      ['day', ['2026-01-31'], { '2031-01-31': 'maxDate', infinity: 'isDate maxDate' }],
      ['size', ['1.5', '1.50', '2.00'], { '1.51': 'isIn' }],
      ['weight', [1.5, 'Infinity'], { '-Infinity': 'min', NaN: 'min isNumber' }],
      ['seal', ['aGVsbG8='], { 'not base64': 'isBase64' }],
      ['notes', [{ a: 1 }, [1]], { text: 'isJson' }],
      ['cost', ['0'], { '-1': 'min' }],
    ];
    for (const [name, right, wrong] of cases) {
      it(`of ${name}`, async () => {
        for (const value of right) {
          const { status, body } = await site.agent.post('/prices').send({ [name]: value });
          expect(status, `${JSON.stringify(value)} ${JSON.stringify(body)}`).to.equal(201);
        }
        for (const [value, codes] of Object.entries(wrong)) {
          const { status, body } = await site.agent.post('/prices').send({ [name]: value });
          const told = (body.errors ?? []).map(({ code }: { code: string }) => code);
          expect([status, ...told], value).to.have.members([422, ...codes.split(' ')]);
        }
      });
    }

    it('of each item', async () => {
      const taken = await site.agent.post('/prices').send({ steps: ['1', '9223372036854775807'] });
      expect(taken.status).to.equal(201);
      const refused = await site.agent.post('/prices').send({ steps: ['1', '-2'] });
      const detail = 'each value in steps must not be less than 0.';
      expectIssue(refused, 422, { pointer: '/steps', code: 'min', detail });
    });

    it('in its own words', async () => {
      const { body } = await site.agent.post('/prices').send({ cost: '-1' });
      expect(body.errors).to.deep.equal([{ pointer: '/cost', code: 'min', detail: 'cost is too small.' }]);
      const own = await site.agent.post('/prices').send({ amount: '-1' });
      expect(own.body.detail).to.equal('amount must not be less than 0.');
    });
  });

  describe('that asks for a value', () => {
    it('[U7] makes it required, and null an error', async () => {
      expect((await site.agent.post('/firms').send(RIGHT)).status).to.equal(201);
      expectProblem(await site.agent.post('/firms').send({}), 422, {
        detail: 'The body has 4 problems.',
        errors: [
          ['name', 'name is required.'],
          ['city', 'city should not be null or undefined.'],
          ['size', 'size is required.'],
          ['tags', 'tags is required.'],
        ].map(([name, detail]) => ({ pointer: `/${name}`, code: 'isDefined', detail })),
      });
      for (const name of ['name', 'city', 'size', 'tags', 'state']) {
        const { status, body } = await site.agent.post('/firms').send({ ...RIGHT, [name]: null });
        expect(status, name).to.equal(422);
        expect(body.errors[0]).to.include({ pointer: `/${name}`, code: 'isDefined' });
        expect((await site.agent.patch('/firms/1').send({ [name]: null })).status, name).to.equal(422);
      }
      expect((await site.agent.patch('/firms/1').send({})).status).to.equal(200);
    });

    it('leaves it to @IsOptional, to a default, and to decorators of values', async () => {
      const { status, body } = await site.agent.post('/firms').send({ ...RIGHT, note: null, remark: null });
      expect([status, body.note, body.remark, body.state]).to.deep.equal([201, null, null, 'new']);
      expect((await site.agent.post('/firms').send({ ...RIGHT, note: '' })).status).to.equal(422);
    });

    it('holds where a condition does', async () => {
      const company = { ...RIGHT, kind: 'company' };
      for (const body of [company, { ...company, vat: null }, { ...company, vat: '' }]) {
        const response = await site.agent.post('/firms').send(body);
        const issue = { pointer: '/vat', code: 'isNotEmpty', detail: 'vat should not be empty.' };
        expectIssue(response, 422, issue);
      }
      expect((await site.agent.post('/firms').send({ ...company, vat: 'FR1' })).status).to.equal(201);
      expect((await site.agent.post('/firms').send({ ...RIGHT, kind: 'club' })).body.vat).to.equal(null);
      expect((await site.agent.patch('/firms/1').send({ kind: 'company' })).status).to.equal(200);
      expect((await site.agent.patch('/firms/1').send({ kind: 'company', vat: null })).status).to.equal(422);
    });

    (SERVES_MANY ? it : it.skip)('holds for each of many', async () => {
      const response = await site.agent.post('/firms').send([RIGHT, { ...RIGHT, name: null }]);
      const issue = { pointer: '/1/name', code: 'isDefined', detail: 'name must not be null.' };
      expectIssue(response, 422, issue);
      await site.agent.post('/firms').send(RIGHT);
      expect((await site.agent.patch('/firms').send([{ id: 1, name: null }])).status).to.equal(422);
    });

    it('holds for a replacement', async () => {
      expect((await site.agent.put('/codes/a').send({})).status).to.equal(422);
      expect((await site.agent.put('/codes/a').send({ label: null })).status).to.equal(422);
      expect((await site.agent.put('/codes/a').send({ label: 'x' })).status).to.equal(201);
    });

    it('is in the document', () => {
      const { schemas = {} } = site.crud.openapi().components;
      expect(schemas['FirmCreate']?.required).to.deep.equal(['name', 'city', 'size', 'tags']);
      expect(schemas['FirmCreate']?.properties?.['name']?.type).to.equal('string');
      expect(schemas['FirmCreate']?.properties?.['vat']?.type).to.deep.equal(['string', 'null']);
      expect(schemas['FirmUpdate']?.required).to.equal(undefined);
      expect(schemas['FirmUpdate']?.properties?.['name']?.type).to.equal('string');
      const amount = schemas['PriceCreate']?.properties?.['amount'];
      expect(amount).to.not.have.any.keys('minimum', 'maximum', 'allOf');
    });
  });

  it('that no value could ever meet is a problem of the start', async () => {
    @Crud()
    @Table({ tableName: 'odds', timestamps: false })
    class Odd extends NumberedRow {
      @IsInt() @Column(DataType.TEXT) declare text: string | null;
      @Length(1, 3) @Column(DataType.INTEGER) declare number: number | null;
      @IsBoolean() @Column(DataType.DATE) declare moment: Date | null;
      @IsString() @Column(DataType.ARRAY(DataType.TEXT)) declare words: string[] | null;
      @IsRFC3339() @Column(DataType.DATEONLY) declare day: string | null;
      @IsIn(['1', '2']) @Column(DataType.INTEGER) declare chosen: number | null;
      @Equals(true) @IsUUID() @Column(DataType.BOOLEAN) declare flag: boolean | null;
      @IsInt() @Column(DataType.JSONB) declare any: unknown;
    }
    const { sequelize } = site.engine;
    (sequelize as Sequelize).addModels([Odd]);
    const end = 'so every value would be refused';
    const replace = `${end}; take the decorator away, or replace it.`;
    expect(await configProblems(() => buildApp({ models: [Odd] }))).to.have.members([
      `Odd.text: @IsInt() takes numbers, and the values of the attribute are texts, ${replace}`,
      `Odd.number: @IsLength() takes texts, and the values of the attribute are numbers, ${replace}`,
      `Odd.moment: @IsBoolean() takes booleans, and the values of the attribute are dates, ${replace}`,
      `Odd.words: @IsString() takes texts, and the values of the attribute are arrays, ${end}; write { each: true } in its options.`,
      `Odd.day: @IsRFC3339() takes texts of another form than those of the column, ${end}; take the decorator away.`,
      `Odd.chosen: @IsIn() names no value that the column takes, ${end}; name values of its type.`,
      `Odd.flag: @IsUuid() takes texts, and the values of the attribute are booleans, ${replace}`,
    ]);
  });
});
