/** Models with something of everything that a document has to describe, and an application that can fail in every way. */
import { Exclude, Expose, Transform } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import type { Request, RequestHandler } from 'express';
import { Authorized, Body, Get, HttpCode, Param, Post, QueryParam } from 'routing-controllers';
import {
  AutoIncrement,
  BelongsTo,
  Column,
  DataType,
  Default,
  DeletedAt,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  type OffsetListQuery,
  type Repository,
  type UpdateValues,
} from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';
import { CapturedLog } from './captured-log.js';

/** True where a rule refuses the request. */
function isStranger({ headers }: Request): boolean {
  return headers['x-stranger'] !== undefined;
}

/** Fails when the request has the header: a fault of the user's own code. */
const failOnRequest: RequestHandler = (request, _response, next) => {
  next(request.headers['x-fail'] === undefined ? undefined : new Error('asked for'));
};

@Crud({
  description: 'Who makes gadgets.',
  dependencies: [failOnRequest],
  filterAllow: ['name', 'id'],
  sortAllow: ['name'],
})
@Table({ tableName: 'makers', timestamps: false })
export class Maker extends Model {
  @PrimaryKey @Default(DataType.UUIDV4) @Column(DataType.UUID) declare id: string;

  @Column({ type: DataType.STRING(40), allowNull: false, unique: true, comment: 'As it is registered.' })
  declare name: string;

  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.STRING(20), allowNull: false })
  declare secret: string;
}

@Crud({
  dependencies: [failOnRequest],
  pageSize: { default: 3, max: 7 },
  filterAllow: [
    'id',
    'code',
    'small',
    'big',
    'price',
    'ratio',
    'on',
    'moment',
    'day',
    'time',
    'key',
    'colour',
    'data',
    'words',
    'makerId',
  ],
  sortAllow: ['id', 'code', 'price', 'moment', 'colour'],
  increment: ['big', 'price', 'ratio'],
  defaultSort: '-price,code',
  include: {
    // The routes of makers fail on request, too, and the gadgets' own do it for both.
    maker: { where: 'all' },
    parts: { size: { default: 2, max: 3 }, where: (request) => (isStranger(request) ? null : EVERYTHING) },
    'parts.material': true,
    'parts.gadget': { where: 'all' },
  },
})
@Table({ tableName: 'gadgets', version: true })
export class Gadget extends NumberedRow {
  @Length(1, 12)
  @Column({ type: DataType.STRING(12), allowNull: false, unique: true })
  declare code: string;

  @Min(-5) @Max(5) @Column(DataType.SMALLINT) declare small: number | null;
  @Column(DataType.BIGINT) declare big: string | null;

  @Column({ type: DataType.DECIMAL(8, 2), allowNull: false, defaultValue: '0.00' })
  declare price: string;

  @Column(DataType.DOUBLE) declare ratio: number | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare on: boolean;
  @Column(DataType.DATE) declare moment: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.TIME) declare time: string | null;
  @Column(DataType.UUID) declare key: string | null;
  @Column(DataType.ENUM('red', 'dark green', "o'clock")) declare colour: string | null;
  @Column(DataType.JSONB) declare data: unknown;
  @Column({ type: DataType.JSONB, allowNull: false, defaultValue: {} }) declare settings: unknown;
  @Column(DataType.ARRAY(DataType.STRING(6))) declare words: string[] | null;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @ForeignKey(() => Maker) @Column(DataType.UUID) declare makerId: string | null;
  @BelongsTo(() => Maker, { onDelete: 'RESTRICT' }) declare maker?: Maker;
  @HasMany(() => Part, 'gadgetId') declare parts?: Part[];

  /** Its value is the result of its getter. */
  @Column({
    type: DataType.VIRTUAL,
    get(this: Gadget) {
      return `${this.getDataValue('code')}!`;
    },
  })
  declare label: string;
}

/** Without routes of its own, as materials are. */
@Table({ tableName: 'materials', timestamps: false })
export class Material extends Model {
  @PrimaryKey @Column(DataType.CHAR(2)) declare symbol: string;
  @Column(DataType.DOUBLE) declare density: number | null;
}

/** Its options also hold for its relations. */
@Crud({
  filterAllow: ['name', 'length'],
  sortAllow: ['name', 'length'],
  defaultSort: '-length',
  increment: ['length'],
})
@Table({ tableName: 'parts', timestamps: false })
export class Part extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
  @Column(DataType.DECIMAL(6, 2)) declare length: string | null;
  @Exclude({ toPlainOnly: true }) @Column(DataType.TEXT) declare supplier: string | null;
  @ForeignKey(() => Gadget) @Column(DataType.INTEGER) declare gadgetId: number | null;
  @BelongsTo(() => Gadget, 'gadgetId') declare gadget?: Gadget;
  @ForeignKey(() => Material) @Column(DataType.CHAR(2)) declare materialSymbol: string | null;
  @BelongsTo(() => Material, 'materialSymbol') declare material?: Material | null;
}

@Crud({
  dependencies: [failOnRequest],
  pagination: 'cursor',
  filterAllow: { text: ['==', '=like='] },
  sortAllow: ['name', 'text'],
})
@Table({ tableName: 'notes', timestamps: true, paranoid: true })
export class Note extends Model {
  @PrimaryKey @Column(DataType.STRING(20)) declare name: string;
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare text: string;

  @Transform(({ value }) => (value === null ? null : { stars: value }), { toPlainOnly: true })
  @Column(DataType.INTEGER)
  declare stars: number | null;

  @DeletedAt declare deletedAt: Date | null;
}

class MemberView {
  @Expose() id!: string;
  @Expose({ name: 'handle' }) name!: string;
  @Expose() email!: string | null;

  @Expose()
  get initial(): string {
    return this.name.charAt(0);
  }
}

class MemberForm {
  @Length(2, 10) name!: string;
  @IsOptional() @IsEmail() email?: string | null;
}

class MemberPatch {
  @IsOptional() @IsEmail() email?: string | null;
}

@Crud({
  prefix: '/club/members',
  tags: ['Club'],
  dependencies: [failOnRequest],
  endpoints: ['list', 'read', 'create', 'update'],
  readSchema: MemberView,
  createSchema: MemberForm,
  updateSchema: MemberPatch,
})
@Table({ tableName: 'members', timestamps: false })
export class Member extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.STRING(10), allowNull: false, unique: true }) declare name: string;
  @Column({ type: DataType.STRING(60), unique: true }) declare email: string | null;
}

class Renaming {
  @IsString() @Length(1, 12) code!: string;
  @IsOptional() @IsInt() @Max(3) times?: number | null;
}

/** An override, and routes of every kind. */
export class GadgetController extends crudController(Gadget) {
  override async update(
    id: number,
    values: UpdateValues<Gadget>,
    context: CrudContext<Gadget>,
  ): Promise<Gadget> {
    return super.update(id, values, context);
  }

  @Post('/:id/renaming')
  @HttpCode(202)
  rename(@Param('id') id: number, @Body() { code, times }: Renaming) {
    return { id, code, times: times ?? null };
  }

  @Get('/count')
  count(@QueryParam('under', { required: true }) under: number) {
    return { under };
  }

  @Get('/:id/words')
  words(@InjectRecord() { words }: Gadget) {
    return { words };
  }

  @Get('/picked')
  @HttpCode(203)
  pick(
    @InjectListQuery() query: OffsetListQuery,
    @QueryParam('on') on: boolean,
    @InjectRepository(Gadget) gadgets: Repository<Gadget>,
  ) {
    return gadgets.page({ ...query, ...(on ? { where: { on } } : {}) });
  }

  @Authorized()
  @Post('/reset')
  @HttpCode(204)
  reset(): null {
    return null;
  }
}

/** The models, in the order in which their tables can be created. */
export const DESCRIBED_MODELS = [Maker, Gadget, Note, Member];

/** The same with those that are reached by relations only. */
export const DESCRIBED_TABLES = [...DESCRIBED_MODELS, Material, Part];

/** Options with which they are served. */
export const DESCRIBED_OPTIONS: BootstrapOptions = {
  models: DESCRIBED_MODELS,
  controllers: [GadgetController],
  routePrefix: '/api',
  bodyLimit: 2_000,
  logger: new CapturedLog(),
  docs: { title: 'Gadgets & more', license: { name: 'MIT', identifier: 'MIT' }, partial: true },
  routing: {
    authorizationChecker: ({ request }) => {
      const { authorization } = request.headers;
      return authorization === 'yes';
    },
  },
};
