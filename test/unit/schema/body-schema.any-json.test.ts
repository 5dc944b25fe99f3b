import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsDefined, IsNotEmpty, MaxLength, ValidateBy } from 'class-validator';
import fc from 'fast-check';
import { AllowNull, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BodySchema, bodySchema } from '../../../src/schema/body-schema.js';
import { InvalidBodyError } from '../../../src/schema/request-issue.js';
import { attach, planOf } from '../../support/offline-models.js';
import { parseBody } from '../../support/parse-bodies.js';
import { wholeOr } from '../../support/short.js';

describe('parseBody', () => {
  describe('for any JSON at all', () => {
    const SECRET = 'xyzzy-secret-4711';
    @Table({ timestamps: false })
    class Everything extends Model {
      @PrimaryKey @Column(DataType.UUID) declare id: string;
      @IsNotEmpty({ message: '$value' }) @AllowNull(false) @Column(DataType.STRING(8)) declare a: string;
      @Column(DataType.INTEGER) declare b: number;
      @Column(DataType.BIGINT) declare c: string;
      @Column(DataType.DECIMAL(5, 2)) declare d: string;
      @Column(DataType.DATE) declare e: Date;
      @Column(DataType.DATEONLY) declare f: string;
      @Column(DataType.TIME) declare g: string;
      @Column(DataType.BOOLEAN) declare h: boolean;
      @Column(DataType.ENUM('x', '$value')) declare i: string;
      @Column(DataType.ARRAY(DataType.ARRAY(DataType.INTEGER))) declare j: number[][];
      @ValidateBy({ name: 'never', validator: { validate: () => false } }, { message: 'not $value' })
      @Column(DataType.BLOB)
      declare k: Buffer;
      @Column(DataType.JSONB) declare l: unknown;
      @IsDefined({ message: '$value' })
      @MaxLength(1, { message: '$value', each: true })
      @Column(DataType.ARRAY(DataType.STRING))
      declare m: string[];
      @Column(DataType.DOUBLE) declare n: number;
      @Exclude() @Column(DataType.STRING) declare hidden: string;
    }
    const plan = planOf(attach(Everything), { idType: (raw: string) => raw });
    const schemas = [bodySchema(plan, 'create'), bodySchema(plan, 'update')];
    const names = [...'abcdefghijklmn', 'id', 'hidden', '__proto__', 'constructor', 'then'];

    /** JSON whose texts may be the secret, under names that the model has, and others. */
    const { value: anyJson } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constant(SECRET),
        fc.constantFrom<unknown>(
          null,
          true,
          0,
          -1,
          1.5,
          1e308,
          2147483648,
          '',
          ...'42 1.50 2024-02-30 08:00'.split(' '),
        ),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value')),
        tie('object'),
      ),
      object: fc
        .array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value')))
        .map((entries) => {
          // As JSON.parse does, which makes __proto__ a key like any other.
          const text = entries
            .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
            .join();
          return JSON.parse(`{${text}}`) as unknown;
        }),
    }));
    const anyBody = fc
      .dictionary(fc.constantFrom(...names), anyJson)
      .map((body) => JSON.parse(JSON.stringify(body)) as unknown);

    it('gives values, or an InvalidBodyError whose issues say no value that was sent', () =>
      fc.assert(
        fc.asyncProperty(fc.oneof(anyBody, anyJson), fc.nat({ max: 1 }), async (body, nth) => {
          const schema = schemas[nth] as BodySchema;
          const outcome = await parseBody(schema, body).catch((error: unknown) => error);
          if (!(outcome instanceof InvalidBodyError)) {
            expect(outcome).not.to.be.instanceOf(Error);
            expect([...schema.properties]).to.include.members(Object.keys(outcome as object));
            return;
          }
          expect(outcome.errors).not.to.deep.equal([]);
          expect(JSON.stringify([outcome.message, outcome.errors])).not.to.include(SECRET);
        }),
        { numRuns: wholeOr(700, 2_000) },
      ));
  });
});
