import { expect } from 'chai';
import { Expose, Transform, Type } from 'class-transformer';
import {
  IsInt,
  IsNotEmpty,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import fc from 'fast-check';
import { AllowNull, Column, DataType, Default, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { ModelClass } from '../../../src/declare/crud-options.js';
import { type BodySchema, bodySchema } from '../../../src/schema/body-schema.js';
import type { BodyValues } from '../../../src/schema/body-values.js';
import { readNothing } from '../../../src/schema/compile-body-reader.js';
import { type BodyKind, presenceOf, writableAttributes } from '../../../src/schema/derive-class.js';
import { createSchema } from '../../../src/schema/model-schemas.js';
import { mutatedBody, rightBody } from '../../support/any-body.js';
import { attach, planOf } from '../../support/offline-models.js';
import { bodyIssues, parseBody } from '../../support/parse-bodies.js';
import { wholeOr } from '../../support/short.js';
import { Specimen } from '../../support/specimen.js';

/** Types that no list is sorted by, and names that objects have, or that order themselves. */
@Table({ timestamps: false })
class Oddity extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column(DataType.JSON) declare length: unknown;
  @Column(DataType.BLOB) declare bytes: Buffer;
  @AllowNull(false) @Default('x') @Column(DataType.STRING(3)) declare 7: string;
  @AllowNull(false) @Column(DataType.DECIMAL(5, 2)) declare price: string;
  @Column(DataType.ARRAY(DataType.ARRAY(DataType.DATE))) declare dates: Date[][];
  @AllowNull(false) @Column(DataType.ARRAY(DataType.UUID)) declare uuids: string[];
  @Column(DataType.ARRAY(DataType.JSONB)) declare parts: unknown[];
  @Column(DataType.INET) declare address: unknown;
  @Column(DataType.VIRTUAL)
  set virtual(_value: unknown) {}
}

// Called as a function: the linter takes a member `then` of a class for that of a promise.
Column({ type: DataType.JSONB, allowNull: false })(Oddity.prototype, 'then');

interface Above {
  readonly rank?: number;
}

/** Decorators of the user's of every kind on some attributes. */
@Table({ timestamps: false })
class Decorated extends Model {
  @Column(DataType.STRING(5)) declare bare: string;
  @IsNotEmpty() @AllowNull(false) @Column(DataType.STRING(5)) declare title: string;
  @Min(0) @Max(10) @AllowNull(false) @Default(1) @Column(DataType.INTEGER) declare rank: number;
  @Matches(/^[a-z]*$/, { each: true }) @Column(DataType.ARRAY(DataType.STRING)) declare tags: string[];
  @ValidateBy({ name: 'later', validator: { validate: async (value) => value !== 'x' } })
  @Column(DataType.STRING(5))
  declare later: string;
  @ValidateBy({
    name: 'above',
    validator: {
      validate: (value, details) => Number(value) > ((details?.object as Above | undefined)?.rank ?? 0),
    },
  })
  @Column(DataType.INTEGER)
  declare above: number;
  @Transform(({ value }) => (typeof value === 'string' ? value.trim() : value), { toClassOnly: true })
  @Column(DataType.STRING(5))
  declare trimmed: string;
}

@Table({ timestamps: false })
class Conditional extends Model {
  @ValidateIf((_object, value) => {
    if (value === null || value === undefined) throw new TypeError('nothing to look at');
    return true;
  })
  @Column(DataType.INTEGER)
  declare size: number;
  @Column(DataType.INTEGER) declare other: number;
}

class Point {
  @IsInt() x = 0;
}

@Table({ timestamps: false })
class Nested extends Model {
  @ValidateNested() @Type(() => Point) @Column(DataType.JSONB) declare point: Point;
  @Column(DataType.INTEGER) declare other: number;
}

const KINDS: readonly BodyKind[] = ['create', 'update'];

/** A schema and bodies for it. */
function subjectOf(model: ModelClass, kind: BodyKind) {
  const plan = planOf(model, { idType: (raw: string) => raw });
  const schema = bodySchema(plan, kind);
  const attributes = writableAttributes(plan.info, plan.exposure, kind);
  const right = rightBody(attributes, (attribute) => presenceOf(plan.info, attribute, kind) !== 'required');
  const wrong = mutatedBody(
    right,
    attributes.map(({ name }) => name),
  );
  return { schema, right, wrong };
}

/** Parses the body by the class alone. */
function parseThroughClass(schema: BodySchema, body: unknown): Promise<BodyValues> {
  return parseBody({ ...schema, read: readNothing }, body);
}

function expectSame(actual: BodyValues | null, expected: unknown): void {
  expect(actual).to.deep.equal(expected);
  expect(Object.keys(actual ?? {})).to.deep.equal(Object.keys(expected as object));
  expect(Object.getPrototypeOf(actual)).to.equal(Object.prototype);
}

describe('compileBodyReader', () => {
  attach(Specimen);
  attach(Oddity);
  for (const model of [Decorated, Conditional, Nested]) attach(model);

  for (const kind of KINDS) {
    for (const model of [Specimen, Oddity]) {
      const { schema, right } = subjectOf(model, kind);

      it(`reads every right ${kind} of ${model.name} as the class does`, () =>
        fc.assert(
          fc.asyncProperty(right, async (body) => {
            expectSame(schema.read(body), await parseThroughClass(schema, body));
          }),
          { numRuns: wholeOr(100, 300) },
        ));
    }

    for (const model of [Specimen, Oddity, Decorated, Conditional, Nested]) {
      const { schema, right, wrong } = subjectOf(model, kind);

      it(`reads any ${kind} of ${model.name} as the class does, or not at all`, () =>
        fc.assert(
          fc.asyncProperty(fc.oneof(right, wrong), async (body) => {
            const values = schema.read(body);
            if (values !== null) expectSame(values, await parseThroughClass(schema, body));
          }),
          { numRuns: wholeOr(150, 500) },
        ));
    }
  }

  it('reads no body that is not a plain object', () => {
    const { schema } = subjectOf(Nested, 'update');
    class Sent {
      other = 1;
    }
    const odd = [new Sent(), Object.create(null), () => 1];
    for (const body of [null, undefined, 1, 'x', [], [{ other: 1 }], ...odd])
      expect(schema.read(body)).to.equal(null);
    expect(schema.read({ other: 1 })).to.deep.equal({ other: 1 });
  });

  it('takes a value from a getter once', () => {
    const { schema } = subjectOf(Nested, 'update');
    let asked = 0;
    const body = {
      get other() {
        asked += 1;
        return asked;
      },
    };
    expect(schema.read(body)).to.deep.equal({ other: 1 });
  });

  it('leaves arrays with holes or a constructor of their own to the class', () => {
    const { schema } = subjectOf(Oddity, 'update');
    const sparse: unknown[] = [];
    sparse[1] = 'a';
    for (const parts of [sparse, Object.assign([1], { constructor: 1 })]) {
      expect(schema.read({ parts })).to.equal(null);
    }
  });

  it('leaves a value with decorators of the user to the class, and reads bodies without it', () => {
    const { schema } = subjectOf(Decorated, 'update');
    for (const body of [{ title: 'a' }, { rank: 5 }, { tags: [] }, { later: 'a' }, { trimmed: null }]) {
      expect(schema.read(body)).to.equal(null);
    }
    expect(schema.read({ bare: 'a' })).to.deep.equal({ bare: 'a' });
    expect(schema.read({})).to.deep.equal({});
  });

  it('asks a validator with a memory no more often than the class does', async () => {
    const coupons = new Set(['SPRING']);
    @Table({ timestamps: false })
    class Order extends Model {
      @ValidateBy({ name: 'isUnused', validator: { validate: (value) => coupons.delete(value) } })
      @Column(DataType.STRING)
      declare coupon: string;
      @Column(DataType.INTEGER) declare amount: number;
    }
    const { schema } = subjectOf(attach(Order), 'create');
    const issues = await bodyIssues(parseBody(schema, { coupon: 'SPRING', amount: 'x' }));
    expect(issues.map(({ code }) => code)).to.deep.equal(['isInt']);
  });

  it('leaves everything to a class that the user decorated after it was derived', async () => {
    @Table({ timestamps: false })
    class Late extends Model {
      @Column(DataType.STRING) declare name: string;
      @Column(DataType.STRING) declare other: string;
    }
    attach(Late);
    IsNotEmpty()(createSchema(Late).prototype, 'name');
    const validated = subjectOf(Late, 'create').schema;
    expect(validated.read({ name: 'a' })).to.equal(null);
    expect(validated.read({ other: 'a' })).to.deep.equal({ name: null, other: 'a' });
    Expose()(createSchema(Late).prototype, 'name');
    expect(subjectOf(Late, 'create').schema.read({ other: 'a' })).to.equal(null);
  });

  it('reads nothing for a class of the user', () => {
    class Own {
      @ValidateBy({ name: 'any', validator: { validate: () => true } }) bare = '';
    }
    const schema = bodySchema(planOf(Decorated, { createSchema: Own }), 'create');
    expect(schema.read({ bare: 'a' })).to.equal(null);
  });
});
