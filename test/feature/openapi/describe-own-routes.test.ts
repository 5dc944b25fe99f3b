/** Routes and classes of the user's in the document, and on the wire: answers as `@Answers`, return types and read schemas declare them. */
import { expect } from 'chai';
import { Expose, Type } from 'class-transformer';
import { IsDate, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { Authorized, Body, Get, HttpCode, HttpError, JsonController, Param, Post } from 'routing-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  Answers,
  type CreateValues,
  Crud,
  type CrudContext,
  createSchema,
  crudController,
  InjectId,
  InjectRepository,
  type Repository,
} from '../../../src/index.js';
import type { OperationObject } from '../../../src/openapi/openapi-object.js';
import { ApiContract } from '../../support/api-contract.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';

class Size {
  @IsInt() declare width: number;
  @Expose() declare unit?: string;
}

class Tree {
  @IsString() declare name: string;
  @Type(() => Tree) @ValidateNested({ each: true }) declare branches: Tree[];
}

class BoxView {
  @Expose() declare id: number;
  @Expose() @Type(() => Size) declare size: Size;
  @Expose() @Type(() => Size) declare sizes: Size[];
  @Expose() @Type(() => Date) declare packed: Date | null;
  @Expose() @Type(() => Date) declare day: Date;
  @Expose() @IsDate() declare seen: Date;
  @Expose() declare shown: Date;
}

@Crud({ readSchema: BoxView })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends Model {
  @Column({ type: DataType.JSONB, allowNull: false }) declare size: object;
  @Column(DataType.JSONB) declare sizes: object[] | null;
  @Column(DataType.DATE) declare packed: Date | null;
  @Column({ type: DataType.DATEONLY, allowNull: false }) declare day: string;
  get seen(): Date {
    return new Date(0);
  }
}

@Crud()
@Table({ tableName: 'lids', timestamps: false })
class Lid extends Model {
  @Column({ type: DataType.STRING(9), allowNull: false }) declare name: string;
}

const LidForm = createSchema(Lid);

class Receipt {
  @IsInt() declare count: number;
  @IsOptional() @Type(() => Lid) declare lid?: object | null;
}

class Boxes extends crudController<Box, object>(Box) {
  @Get('/:id/size')
  size(@InjectId() _id: number): Size {
    return Object.assign(new Size(), { width: 3 });
  }

  @Answers({ summary: 'Reads the sum', description: 'Of all.', tags: ['Sums'], public: true })
  @Answers({ 202: Receipt, 409: 'There is no sum today.' })
  @HttpCode(202)
  @Post('/:id/sum')
  async sum(@InjectId() id: number, @InjectRepository(Lid) lids: Repository<Lid>, @Body() tree: Tree) {
    if (id === 9) throw new HttpError(409, 'None.');
    const lid = await lids.create({ name: tree.name });
    return { count: tree.branches.length, lid };
  }
}

class Lids extends crudController<Lid, object>(Lid, { endpoints: ['list', 'read', 'create', 'createMany'] }) {
  @Answers({ 200: Size }, { summary: 'Creates lids' })
  override create(values: CreateValues<Lid>, context: CrudContext<Lid>): Promise<object> {
    return super.create(values, context);
  }

  @Answers({ 203: Size, 418: 'It is a teapot.' }, { summary: 'Reads one' })
  override async read(id: number, _query: object, { response }: CrudContext<Lid>): Promise<object> {
    if (id === 7) throw new HttpError(418, 'Short and stout.');
    return response.status(203).json({ width: id });
  }
}

@JsonController('/own')
class Own {
  @Get('/lid')
  lid(): Lid {
    return Lid.build({ id: 1, name: 'Own' });
  }

  @Post('/lids')
  @HttpCode(201)
  @Answers([Lid])
  async addLid(
    @Body({ type: LidForm }) form: { name: string },
    @InjectRepository(Lid) lids: Repository<Lid>,
  ) {
    return [await lids.create(form)];
  }

  @Answers({ 200: Tree, 404: 'There is no such tree.' })
  @Get('/trees/:name')
  async tree(@Param('name') name: string) {
    if (name === 'none') throw new HttpError(404, 'Gone.');
    return { name, branches: [{ name: 'twig', branches: [] }] };
  }
}

@JsonController('/feeds')
class FeedController {
  @Get('/latest')
  @Get('/newest')
  latest(): object {
    return {};
  }
}

@JsonController('/feeds2')
class Feed2Controller {
  @Get('/latest')
  latest(): object {
    return {};
  }
}

describe('routes and classes of the user in the document', () => {
  const app = serveTestApp(() => ({
    models: [Box, Lid],
    bootstrap: {
      controllers: [Boxes, Lids, Own],
      docs: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
  }));
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
  const date = { type: 'string', format: 'date-time' };

  it('have a component for each class, and one for a body of a resource', () => {
    const { BoxRead, Size: size, Tree: tree, TreeAnswer, Receipt: receipt, ...others } = schemas();
    expect(size).to.deep.equal({
      type: 'object',
      properties: { width: { type: 'integer' }, unit: { type: ['string', 'null'] } },
      required: ['width'],
    });
    expect(BoxRead?.properties).to.deep.equal({
      id: { type: 'integer', format: 'int32', minimum: -2147483648, maximum: 2147483647 },
      size: ref('Size'),
      sizes: { type: ['array', 'null'], items: ref('Size') },
      packed: { type: ['string', 'null'], format: 'date-time' },
      day: date,
      seen: date,
      shown: { type: ['string', 'null'], format: 'date-time' },
    });
    expect(tree?.properties).to.deep.equal({
      name: { type: 'string' },
      branches: { type: 'array', items: ref('Tree') },
    });
    expect(TreeAnswer?.properties?.['branches']).to.deep.equal({
      type: ['array', 'null'],
      items: ref('TreeAnswer'),
    });
    expect(receipt?.properties?.['lid']).to.deep.equal(orNull(ref('LidRead')));
    expect(bodyOf('addLidOwn')).to.deep.equal(ref('LidCreate'));
    expect(Object.keys(others)).to.not.include.oneOf(['LidCreate2', 'BoxView', 'TreeInput']);
  });

  it('have the words, statuses and classes of @Answers, also on an override, and of the return type', () => {
    expect(operation('sumBox')).to.deep.include({
      summary: 'Reads the sum',
      description: 'Of all.',
      tags: ['Sums'],
      security: [],
    });
    expect(app.crud.openapi().tags).to.deep.include({ name: 'Sums', description: 'Routes of Sums.' });
    expect(operation('lidOwn')).to.not.have.property('security');
    const { 409: conflict, ...responses } = operation('sumBox').responses;
    const problem = { 'application/problem+json': { schema: ref('Problem') } };
    expect(conflict).to.deep.include({ description: 'There is no sum today.', content: problem });
    const rest = ['400', '403', '404', '405', '413', '415', '422', '500', '503', '504'];
    expect(responses).to.have.all.keys('202', ...rest);
    expect(operation('readLid')).to.deep.include({ summary: 'Reads one' });
    expect(operation('createLid')).to.deep.include({ summary: 'Creates lids' });
    expect(operation('createLid').responses).to.include.keys('200').and.not.have.property('201');
    expect(operation('readLid').responses).to.have.all.keys(
      ...['203', '418', '400', '404', '405', '500', '503', '504'],
    );
    for (const [id, status, schema] of [
      ['readLid', 203, ref('Size')],
      ['sizeBox', 200, ref('Size')],
      ['lidOwn', 200, ref('LidRead')],
      ['addLidOwn', 201, { type: 'array', items: ref('LidRead') }],
      ['treeOwn', 200, ref('TreeAnswer')],
    ] as const)
      expect(operation(id).responses[status], id).to.deep.include({
        content: { 'application/json': { schema } },
      });
    const all = Object.values(app.crud.openapi().paths).flatMap((item) => Object.values(item));
    for (const { responses: each } of all)
      for (const status of Object.keys(each)) expect(status).to.match(/^[2-5]\d\d$/);
  });

  it('cannot be public and guarded', async () => {
    class Guarded extends crudController(Lid) {
      @Authorized() @Answers({ public: true }) @Get('/guarded') guarded() {
        return {};
      }
    }
    const problems = await configProblems(() => buildApp({ models: [Lid], controllers: [Guarded] }));
    expect(problems).to.deep.equal([
      'Guarded.guarded has @Answers({ public: true }) and @Authorized(); remove one of them.',
    ]);
  });

  it('are answered so', async () => {
    const contract = new ApiContract(app.crud.openapi());
    const size = { width: 1, unit: 'cm' };
    const box = { size, sizes: [size], packed: '2026-01-31T08:00:00.000Z', day: '2026-01-31' };
    const tree = { name: 'oak', branches: [{ name: 'twig', branches: [] }] };
    const sent: readonly [string, number, 'get' | 'post', string, object?][] = [
      ['createBox', 201, 'post', '/boxes', box],
      ['createBox', 201, 'post', '/boxes', { ...box, sizes: null, packed: null }],
      ['listBoxes', 200, 'get', '/boxes'],
      ['sizeBox', 200, 'get', '/boxes/1/size'],
      ['sizeBox', 400, 'get', '/boxes/x/size'],
      ['sumBox', 202, 'post', '/boxes/1/sum', tree],
      ['sumBox', 409, 'post', '/boxes/9/sum', tree],
      ['readLid', 203, 'get', '/lids/1'],
      ['readLid', 418, 'get', '/lids/7'],
      ['lidOwn', 200, 'get', '/own/lid'],
      ['addLidOwn', 201, 'post', '/own/lids', { name: 'Own' }],
      ['treeOwn', 200, 'get', '/own/trees/oak'],
      ['treeOwn', 404, 'get', '/own/trees/none'],
    ];
    for (const [id, status, verb, path, body] of sent) {
      const answer = await (body ? app.agent[verb](path).send(body) : app.agent[verb](path));
      expect([id, answer.status, answer.text].slice(0, 2), answer.text).to.deep.equal([id, status]);
      contract.check(id, answer);
    }
  });

  it('have an id each, where another route has the id with its number', async () => {
    const controllers = [FeedController, Feed2Controller];
    const { crud } = await buildApp({ models: [], controllers, health: false });
    const ids = Object.values(crud.openapi().paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(ids.sort()).to.deep.equal(['latestFeed', 'latestFeed2', 'latestFeed22']);
  });

  function schemas() {
    return app.crud.openapi().components.schemas;
  }

  function operation(id: string): OperationObject {
    const all = Object.values(app.crud.openapi().paths).flatMap((item) => Object.values(item));
    return all.find(({ operationId }) => operationId === id) as OperationObject;
  }

  function bodyOf(id: string) {
    return operation(id).requestBody?.content['application/json']?.schema;
  }
});
