/** Models whose bodies go through all code that reads them: columns of each type, rules, nested classes, code of the user's. */
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsEmail,
  IsInt,
  IsNotEmptyObject,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import fc from 'fast-check';
import {
  Body,
  BodyParam,
  Get,
  HeaderParam,
  JsonController,
  Param,
  Post,
  Put,
  QueryParam,
} from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { EVERY_ENDPOINT } from '../models/endpoints.js';
import { ManyTypes } from '../models/many-types.js';
import { NumberedRow } from '../models/rows.js';
import { SAFE_JSON } from './any-body.js';
import { UNGUARDED } from './combination.js';

class Point {
  @IsInt() declare x: number;
  @IsOptional() @Type(() => Number) @Min(0) declare y?: number;
}

class Circle {
  @IsString() declare kind: string;
  @IsInt() declare radius: number;
}

class Square {
  @IsString() declare kind: string;
  @IsOptional() @IsString() declare label?: string;
}

const SHAPES = {
  discriminator: {
    property: 'kind',
    subTypes: [
      { name: 'circle', value: Circle },
      { name: 'square', value: Square },
    ],
  },
  keepDiscriminatorProperty: true,
};

/** A class inside bodies, which holds itself. */
class Part {
  @IsOptional() @IsString() @Transform(({ value }) => value.trim()) declare name?: string;
  @Expose() declare note?: string;
  @Exclude() declare secret?: string;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Point) declare points?: Point[];
  @IsOptional() @ValidateNested() @Type(() => Part) declare next?: Part;
}

@Crud({
  prefix: '/anythings',
  endpoints: EVERY_ENDPOINT,
  filterAllow: {
    id: true,
    small: true,
    big: true,
    exact: true,
    double: true,
    flag: true,
    moment: true,
    day: true,
    time: true,
    uuid: true,
    colour: true,
    text: true,
    jsonb: true,
    words: true,
    numbers: true,
    address: true,
    network: true,
    mac: true,
    span: true,
    period: true,
    stay: true,
    fee: true,
    seats: true,
    mask: true,
    parts: ['label'],
  },
  sortAllow: ['id', 'text', 'exact', 'moment', 'address', 'span', 'stay', 'fee', 'seats', 'mask'],
  pagination: 'cursor',
  count: true,
  include: { parts: UNGUARDED },
  subresources: { parts: UNGUARDED },
  can: { deleted: true },
})
@Table({ tableName: 'anythings', paranoid: true, version: true })
export class Anything extends ManyTypes {
  @PrimaryKey @Column(DataType.STRING(40)) declare id: string;
  @Column(DataType.JSON) declare json: unknown;
  @Column(DataType.TEXT) declare text: string | null;
  @Column(DataType.ARRAY(DataType.JSONB)) declare documents: unknown[] | null;
  @Column(DataType.INET) declare address: string | null;
  @Column(DataType.CIDR) declare network: string | null;
  @Column(DataType.MACADDR) declare mac: string | null;
  @Column(DataType.RANGE(DataType.INTEGER)) declare span: unknown;
  @Column(DataType.RANGE(DataType.DATE)) declare period: unknown;
  @Column('interval') declare stay: string | null;
  @Column('money') declare fee: string | null;
  @Column('int4multirange') declare seats: string | null;
  @Column('bit varying(3)') declare mask: string | null;
  @Column(DataType.TSVECTOR) declare lexemes: unknown;
  @Column(DataType.VIRTUAL) declare draft: unknown;
  @HasMany(() => Piece) declare parts: Piece[];
}

@Crud({
  prefix: '/pieces',
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany', 'deleteMany'],
  filterAllow: ['id', 'label', 'anythingId'],
  sortAllow: ['id', 'label'],
  include: { anything: UNGUARDED },
})
@Table({ tableName: 'pieces', timestamps: false })
export class Piece extends NumberedRow {
  @Transform(({ value }) => value.trim(), { toClassOnly: true })
  @MaxLength(20)
  @Column({ type: DataType.TEXT, allowNull: false })
  declare label: string;

  @ForeignKey(() => Anything) @Column(DataType.STRING(40)) declare anythingId: string | null;
  @BelongsTo(() => Anything) declare anything: Anything | null;
  @IsEmail() @Column(DataType.TEXT) declare mail: string | null;
  @Matches(/^(a+)+$/) @MaxLength(20) @Column(DataType.TEXT) declare letters: string | null;

  @ValidateIf(({ label }) => label !== 'a')
  @Min(0)
  @Column(DataType.INTEGER)
  declare rank: number | null;

  @IsOptional() @IsNotEmptyObject() @Column(DataType.JSONB) declare settings: object | null;

  @ValidateNested({ each: true })
  @IsArray()
  @Type(() => Part)
  @Column(DataType.JSONB)
  declare lines: Part[] | null;

  @ValidateNested() @Type(() => Part) @Column(DataType.JSONB) declare line: Part | null;

  @ValidateNested({ each: true })
  @Type(() => Object, SHAPES)
  @Column(DataType.JSONB)
  declare shapes: (Circle | Square)[] | null;

  @Transform(({ value }) => Object.keys(value ?? {}).sort(), { toPlainOnly: true })
  @Column(DataType.JSONB)
  declare keys: object | null;

  @Column(DataType.JSONB)
  get upper(): unknown {
    return this.getDataValue('upper');
  }

  @Type(() => Date) @Column(DataType.DATE) declare due: Date | null;
  @Type(() => Number) @Column(DataType.INTEGER) declare amount: number | null;
}

/** Properties of both classes below. */
class Sender {
  @IsString() @MaxLength(40) declare name: string;
  @IsOptional() @IsInt() @Type(() => Number) declare age?: number;
  @IsOptional() @IsEmail({}, { each: true }) declare mails?: string[];
  @IsOptional() @IsObject() declare settings?: object;
}

/** The user's class for bodies of a resource, and of a route. */
class Profile extends Sender {
  @Expose() declare anything?: unknown;

  @IsOptional()
  @Transform(({ value }) => value.map((each: string) => each.toLowerCase()))
  @IsString({ each: true })
  declare tags?: string[];

  @IsOptional() @ValidateNested() @Type(() => Part) declare part?: Part;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => Object, SHAPES)
  declare shapes?: (Circle | Square)[];
}

class ProfileRead {
  @Expose() declare id: number;
  @Expose() declare name: string;
  @Expose({ name: 'years' }) declare age: number | null;
  @Expose() declare settings: object | null;
  @Expose() @Type(() => Part) declare part: Part | null;
  @Expose() @Type(() => Object, SHAPES) declare shapes: object[] | null;

  @Expose()
  get size(): number {
    return Object.keys(this.settings ?? {}).length;
  }
}

@Crud({
  prefix: '/profiles',
  endpoints: ['list', 'read', 'create', 'update', 'createMany', 'updateMany'],
  createSchema: Profile,
  updateSchema: Profile,
  readSchema: ProfileRead,
  filterAllow: ['name'],
})
@Table({ tableName: 'profiles', timestamps: false })
export class ProfileModel extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string;
  @Column(DataType.INTEGER) declare age: number | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare mails: string[] | null;
  @Column(DataType.JSONB) declare settings: object | null;
  @Column(DataType.JSON) declare anything: unknown;
  @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
  @Column(DataType.JSONB) declare part: object | null;
  @Column(DataType.JSONB) declare shapes: object[] | null;
}

const point = fc.record({ x: fc.integer(), y: fc.constantFrom(0, '1') });

const part = fc.letrec<{ part: object }>((tie) => ({
  part: fc.record(
    {
      name: fc.string(),
      note: SAFE_JSON,
      points: fc.array(point, { maxLength: 3 }),
      next: fc.option(tie('part'), { depthIdentifier: 'part', maxDepth: 3 }),
    },
    { requiredKeys: [] },
  ),
})).part;

const shape = fc.oneof(
  fc.record({ kind: fc.constant('circle'), radius: fc.integer() }),
  fc.record({ kind: fc.constant('square'), label: fc.string() }),
);

const mail = fc.constantFrom('ann@example.com', 'a+b@example.org');
const settings = fc.dictionary(fc.constantFrom('a', 'toString', '', '0', 'then', 'length'), SAFE_JSON, {
  minKeys: 1,
  noNullPrototype: true,
});

/** Bodies that are mostly right. */
export const RIGHT_PIECES: fc.Arbitrary<object> = fc.record(
  {
    label: fc.constantFrom('a', ' b ', 'c'),
    anythingId: fc.constantFrom('a', null, '__proto__'),
    mail,
    letters: fc.constant('aaa'),
    rank: fc.nat(10),
    settings,
    lines: fc.array(part, { maxLength: 3 }),
    line: part,
    shapes: fc.array(shape, { maxLength: 3 }),
    keys: settings,
    upper: SAFE_JSON,
    due: fc.constant('2026-01-31T08:00:00Z'),
    amount: fc.constantFrom(1, '2'),
  },
  { requiredKeys: ['label'] },
);

const SENDER = {
  name: fc.string({ maxLength: 40 }),
  age: fc.constantFrom(1, '2'),
  mails: fc.array(mail, { maxLength: 3 }),
  settings,
  anything: SAFE_JSON,
};

/** For `Profile`. */
export const RIGHT_PROFILES: fc.Arbitrary<object> = fc.record(
  {
    ...SENDER,
    tags: fc.array(fc.string(), { maxLength: 3 }),
    part,
    shapes: fc.array(shape, { maxLength: 3 }),
  },
  { requiredKeys: ['name'] },
);

/** A body of a route of the user's; code of the user's in it would have to bear any value. */
class Letter extends Sender {
  @IsOptional() declare anything?: unknown;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Point) declare points?: Point[];
}

/** For `Letter`. */
export const RIGHT_LETTERS: fc.Arbitrary<object> = fc.record(
  { ...SENDER, points: fc.array(point, { maxLength: 3 }) },
  { requiredKeys: ['name'] },
);

/** Routes written by hand, whose parameters routing-controllers reads. */
@JsonController('/hand')
export class HandController {
  @Post('/')
  make(@Body() letter: Letter) {
    return { name: letter.name };
  }

  @Post('/parts')
  makePart(@BodyParam('letter') letter: Letter) {
    return { name: letter?.name };
  }

  @Put('/:id')
  put(@Param('id') id: number, @Body({ required: true }) letter: Letter) {
    return { id, name: letter.name };
  }

  @Get('/:id')
  read(
    @Param('id') id: string,
    @QueryParam('size') size: number,
    @HeaderParam('prefer') prefer: string,
    @QueryParam('fields', { parse: true }) fields: object,
  ) {
    return { id, size: size ?? null, prefer: prefer ?? null, fields: fields ?? null };
  }
}
