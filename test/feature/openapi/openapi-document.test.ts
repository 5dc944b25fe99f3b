/** The OpenAPI document of an application: valid, clean, and of everything that is mounted. */
// @runs fast
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { IsInt, IsOptional, IsString } from 'class-validator';
import {
  Authorized,
  Body,
  BodyParam,
  CookieParam,
  Get,
  HeaderParam,
  HttpCode,
  JsonController,
  NotFoundError,
  OnUndefined,
  Param,
  Post,
  Put,
  QueryParam,
  QueryParams,
  Req,
} from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import {
  Answers,
  Crud,
  type CrudApplication,
  type CrudController,
  crudController,
  EVERYTHING,
  InjectId,
  InjectListQuery,
  type OffsetListQuery,
  Repository,
} from '../../../src/index.js';
import type { OperationObject, PathItemObject, ResponseObject } from '../../../src/openapi/openapi-object.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { DESCRIBED_OPTIONS, DESCRIBED_TABLES, Maker } from '../../support/described-models.js';
import { expectIssue, expectJson, expectNoMethod } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ tags: ['Papers'] })
@Table({ tableName: 'docs', timestamps: false })
class Doc extends Model {
  @Column(DataType.STRING) declare title: string;
}

/** A relation `read`: the name of its schema could be that of the model's own, `OwnRead`. */
@Table({ tableName: 'owns', timestamps: false })
class Own extends Model {
  @ForeignKey(() => Own) @Column(DataType.INTEGER) declare readId: number | null;
  @BelongsTo(() => Own, 'readId') declare read?: object | null;
}

class DocController extends crudController(Doc, { prefix: '/papers', endpoints: ['list', 'read'] }) {
  @Get('/latest')
  @Get('/newest')
  latest() {
    return [];
  }

  @Put('/:key')
  exchange(@Param('key') key: string) {
    return { key };
  }

  @Get(/\/papers\/x+/)
  unusual() {
    return {};
  }

  @Authorized('editor')
  override read(...args: Parameters<CrudController<Doc>['read']>): Promise<Doc> {
    return super.read(...args);
  }
}

/** Expects the document to be OpenAPI 3.1. */
async function expectValid(crud: CrudApplication): Promise<void> {
  const document = JSON.parse(JSON.stringify(crud.openapi()));
  expect(await new Validator().validate(document)).to.deep.equal({ valid: true });
}

/** Problems of every route of the user's on a resource, and of one that writes. */
const OWN = ['400', '404', '405', '500', '503', '504'];
const WRITES = [...OWN, '403', '409', '422'];
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const statusesOf = (item: PathItemObject | undefined) => Object.keys(item?.get?.responses ?? {});
const answerOf = (item: PathItemObject | undefined, status = '200') =>
  (item?.get?.responses[status] as ResponseObject | undefined)?.content?.['application/json']?.schema;

describe('the OpenAPI document', () => {
  const app = serveTestApp(() => ({ models: [...DESCRIBED_TABLES, Doc, Own], bootstrap: DESCRIBED_OPTIONS }));

  it('is what /openapi.json answers', async () =>
    expectJson(await app.agent.get('/openapi.json'), 200, JSON.parse(JSON.stringify(app.crud.openapi()))));

  it('is valid OpenAPI 3.1', async () => await expectValid(app.crud));

  it('has nothing that a linter would complain of', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(app.crud.openapi()), config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).to.deep.equal([]);
  });

  it('describes every route', () => {
    const described = operations().map(([method, path]) => `${method} ${path}`);
    const mounted = app.crud.routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).to.deep.equal([...mounted, 'GET /health/ready', 'GET /health/live'].sort());
  });

  it('names operations as a client would call them', () => {
    const named = (name: string) => [`list${name}s`, `create${name}`, `read${name}`, `update${name}`];
    const own = ['rename', 'count', 'words', 'pick', 'reset'].map((method) => `${method}Gadget`);
    expect(operations().map(([, , { operationId }]) => operationId)).to.deep.equal([
      ...[...named('Maker'), 'deleteMaker', ...named('Gadget'), 'deleteGadget', ...own],
      ...[...named('Note'), 'deleteNote', ...named('Member'), 'checkReadiness', 'checkLiveness'],
    ]);
  });

  it('describes the parameters of a list as they are read', () => {
    const cursor = (side: string, other: string) =>
      `The \`${side}_cursor\` of another page, unchanged, with the same \`q\` and \`sort\`. Not together with \`${other}\`.`;
    const listOf = (...names: readonly string[]) => ({
      type: 'array',
      items: { type: 'string', enum: names },
      minItems: 1,
      uniqueItems: true,
    });
    const text = { type: 'string', minLength: 1, maxLength: 12_288 };
    const separate = { style: 'form', explode: false };
    const expected: readonly (readonly [name: string, description: string, schema: object, more?: object])[] =
      [
        ['after', cursor('next', 'before'), text],
        ['before', cursor('prev', 'after'), text],
        ['size', 'How many items a page has.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
        [
          'sort',
          'The order; `-` is descending. An attribute is named once. Default: `name`. The primary key is appended, so that the order is total.',
          { ...listOf('name', '-name', 'text', '-text'), maxItems: 2 },
          separate,
        ],
        [
          'q',
          [
            'Filters in [RSQL](https://github.com/jirutka/rsql-parser): `;` is and, `,` is or, with parentheses. A value with',
            'blanks or any of `"\'();,=!~<>` stands in quotes. `<`, `<=`, `>` and `>=` are `=lt=`, `=le=`, `=gt=` and `=ge=`.',
            '`*` is a wildcard in `=like=` and its relatives only.',
            '',
            'For example `text==text`.',
            '',
            '| field | type | operators |',
            '| --- | --- | --- |',
            '| `text` | string | `==` `=like=` |',
          ].join('\n'),
          { type: 'string', maxLength: 2048, examples: ['text==text'] },
        ],
        [
          'fields',
          'Only these properties are answered. Others are absent, also where the schema requires them.',
          { ...listOf('name', 'text', 'stars', 'createdAt', 'updatedAt', 'deletedAt'), maxItems: 6 },
          separate,
        ],
      ];
    expect(operation('get', '/api/notes').parameters).to.deep.equal(
      expected.map(([name, description, schema, more]) => ({
        ...{ name, in: 'query', required: false, description, schema },
        ...more,
      })),
    );
  });

  it('describes bodies and records as the model and its decorators have them', () => {
    const { MakerRead, MakerPartial, MakerCreate, MakerUpdate } = app.crud.openapi().components.schemas;
    const id = { type: 'string', format: 'uuid' };
    const name = { description: 'As it is registered.', type: 'string', maxLength: 40 };
    const secret = { type: 'string', maxLength: 20 };
    const body = { type: 'object', properties: { name, secret }, additionalProperties: false };
    const record = { type: 'object', properties: { id, name } };
    const description = 'Who makes gadgets.';
    expect(MakerCreate).to.deep.equal({ ...body, required: ['name', 'secret'] });
    expect(MakerUpdate).to.deep.equal(body);
    expect(MakerRead).to.deep.equal({ ...record, description, required: ['id', 'name'] });
    const partly = 'The properties of a maker that `fields` names.';
    expect(MakerPartial).to.deep.equal({ ...record, description: partly });
  });

  it('describes classes of the user by their decorators, and leaves open what only his code knows', () => {
    const { MemberRead, MemberCreate, NoteRead, GadgetRead } = app.crud.openapi().components.schemas;
    expect(MemberCreate).to.deep.equal({
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 2, maxLength: 10 },
        email: { type: ['string', 'null'], format: 'email' },
      },
      required: ['name'],
      additionalProperties: false,
    });
    expect(MemberRead).to.deep.equal({
      type: 'object',
      properties: {
        id: { type: 'string', pattern: '^-?(?:0|[1-9][0-9]{0,18})$' },
        handle: { type: 'string', maxLength: 10 },
        email: { type: ['string', 'null'], maxLength: 60 },
        initial: {},
      },
      required: ['id', 'handle', 'email'],
    });
    expect(NoteRead?.properties?.['stars']).to.deep.equal({});
    expect(GadgetRead?.properties?.['label']).to.deep.equal({});
    expect(GadgetRead?.required).to.not.include('label');
  });

  it('describes the routes of a subclass by their decorators', () => {
    const rename = operation('post', '/api/gadgets/{id}/renaming');
    expect(rename.parameters).to.deep.equal([
      { name: 'id', in: 'path', required: true, schema: { type: 'number' } },
    ]);
    const body = { schema: ref('Renaming'), example: { code: 'text', times: 1 } };
    expect(rename.requestBody).to.deep.equal({ required: true, content: { 'application/json': body } });
    expect(app.crud.openapi().components.schemas['Renaming']).to.deep.equal({
      type: 'object',
      properties: {
        code: { type: 'string', minLength: 1, maxLength: 12 },
        times: { type: ['integer', 'null'], maximum: 3 },
      },
      required: ['code'],
      additionalProperties: false,
    });
    expect(rename.responses).to.have.all.keys('202', '413', '415', ...WRITES);
    expect(operation('get', '/api/gadgets/count').parameters).to.deep.equal([
      { name: 'under', in: 'query', required: true, schema: { type: 'number' } },
    ]);
    const { responses } = operation('post', '/api/gadgets/reset');
    expect(responses).to.have.all.keys('204', '401', ...WRITES);
  });

  it('describes controllers that are written by hand, by their decorators', async () => {
    @JsonController('/status')
    class StatusController {
      @Get('/')
      status(@QueryParam('deep', { required: true }) deep: boolean) {
        return { deep };
      }

      @Authorized()
      @Put('/:name')
      set(@Param('name') name: string) {
        return { name };
      }

      @Get(/unusual/)
      unusual() {
        return {};
      }
    }
    const { crud } = await buildApp({
      models: [Doc],
      controllers: [StatusController],
      routePrefix: '/api',
      routing: { authorizationChecker: () => true },
      docs: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    });
    const { tags, paths } = crud.openapi();
    expect(tags).to.deep.include({ name: 'Status', description: 'Routes of `StatusController`.' });
    const own = Object.keys(paths).filter((path) => path.includes('status'));
    expect(own).to.deep.equal(['/api/status', '/api/status/{name}']);
    expect(paths['/api/status']?.get).to.deep.include({
      operationId: 'statusStatus',
      tags: ['Status'],
      parameters: [{ name: 'deep', in: 'query', required: true, schema: { type: 'boolean' } }],
    });
    expect(paths['/api/status']?.get?.responses).to.have.all.keys('200', '400', '404', '500', '503', '504');
    expect(paths['/api/status/{name}']?.put).to.deep.include({
      operationId: 'setStatus',
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      security: [{ bearer: [] }],
    });
    expect(paths['/api/status/{name}']?.put?.responses).to.include.keys('401');
  });

  it('describes a controller and a method without a path as the root', async () => {
    @JsonController()
    class RootController {
      @Get()
      root() {
        return {};
      }
    }
    const { crud } = await buildApp({ models: [], controllers: [RootController], health: false });
    expect(Object.keys(crud.openapi().paths)).to.deep.equal(['/']);
  });

  it('describes all that decorators read from a request, in the order of the method', async () => {
    class Filters {
      @IsString() declare word: string;
      @IsOptional() @IsInt() declare above?: number;
    }
    @JsonController('/words')
    class Words {
      @Get('/')
      find(
        @HeaderParam('X-Word', { required: true }) _word: string,
        @CookieParam('seen') _seen: boolean,
        @QueryParams() _filters: Filters,
        @QueryParam('lengths', { type: Number, isArray: true }) _lengths: number[],
        @QueryParam('like', { type: String }) _like: string[],
        @QueryParam('since') _since: Date,
      ) {
        return [];
      }

      @Post('/')
      add(
        @BodyParam('text', { required: true }) _text: string,
        @BodyParam('rank') _rank: number,
        @BodyParam('marks', { type: Number }) _marks: number[],
      ) {
        return {};
      }

      @Post('/many')
      addMany(@Body({ type: Filters }) _words: Filters[]) {
        return [];
      }

      @Post('/any')
      addAny(@Body() _words: Filters[]) {
        return [];
      }

      @Post('/one')
      addOne(@Body({ required: false }) _word: Filters) {
        return {};
      }

      @Post('/unread')
      addUnread(@Body({ validate: false }) _word: Filters) {
        return {};
      }

      // The metadata of a compiler that emits no types.
      @Get('/plain')
      plain(@QueryParam('word', { type: String }) _word: unknown, @Req() _request: unknown) {
        return {};
      }

      @Post('/plain')
      addPlain(@Body({ type: Filters }) _word: Filters) {
        return {};
      }
    }
    for (const method of ['plain', 'addPlain'])
      Reflect.deleteMetadata('design:paramtypes', Words.prototype, method);
    const { crud } = await buildApp({ models: [], controllers: [Words] });
    const { '/words': words, '/words/plain': plain, ...others } = crud.openapi().paths;
    const { schemas } = crud.openapi().components;
    const bodyOf = (path: typeof words) => path?.post?.requestBody?.content['application/json']?.schema;
    const numbers = { type: 'array', items: { type: 'number' } };
    const moment = { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] };
    expect(words?.get?.parameters).to.deep.equal([
      { name: 'X-Word', in: 'header', required: true, schema: { type: 'string' } },
      { name: 'seen', in: 'cookie', required: false, schema: { type: 'boolean' } },
      { name: 'word', in: 'query', required: true, schema: { type: 'string' } },
      { name: 'above', in: 'query', required: false, schema: { type: ['integer', 'null'] } },
      { name: 'lengths', in: 'query', required: false, schema: numbers },
      { name: 'like', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'since', in: 'query', required: false, schema: moment },
    ]);
    expect(words?.post?.requestBody).to.deep.include({ required: true });
    expect(bodyOf(words)).to.deep.include({
      properties: {
        text: { type: 'string' },
        rank: { type: 'number' },
        marks: numbers,
      },
      required: ['text'],
    });
    const paths = ['many', 'any', 'one', 'unread'].map((path) => others[`/words/${path}`]);
    const areRequired = paths.map((path) => path?.post?.requestBody?.required);
    expect(areRequired).to.deep.equal([true, false, false, false]);
    expect(bodyOf(others['/words/many'])?.type).to.equal('array');
    expect(bodyOf(others['/words/many'])?.items).to.deep.equal(ref('Filters'));
    expect(schemas['Filters']).to.have.nested.property('properties.word');
    expect(bodyOf(others['/words/any'])).to.deep.equal({ type: 'array', items: {} });
    expect(bodyOf(plain)).to.deep.equal(ref('Filters'));
    expect(plain?.get?.parameters).to.deep.equal([
      { name: 'word', in: 'query', required: false, schema: { type: 'string' } },
    ]);
  });

  it('describes statuses and answers as the nearest class has them, and nothing of other classes', async () => {
    class Gone extends NotFoundError {}
    class Papers extends crudController(Doc, { prefix: '/papers', endpoints: ['read'] }) {
      @Get('/first')
      @HttpCode(203)
      @OnUndefined(204)
      @Answers(Doc)
      first() {
        return {};
      }

      @Get('/last')
      @OnUndefined(Gone)
      @HttpCode(206)
      @HttpCode(201)
      @Answers(Doc)
      @Answers([Doc])
      last() {
        return {};
      }
    }
    class OwnPapers extends Papers {
      @HttpCode(202)
      @Answers([Doc])
      override first() {
        return super.first();
      }
    }
    @Authorized([])
    @JsonController('/closed')
    class Closed {
      @Get('/')
      @OnUndefined(205)
      first() {
        return {};
      }

      @Authorized(['editor'])
      @Get('/last')
      last() {
        return {};
      }
    }
    const { crud } = await buildApp({
      models: [Doc],
      controllers: [OwnPapers, Closed],
      routing: { authorizationChecker: () => true },
    });
    const { paths } = crud.openapi();
    expect(answerOf(paths['/papers/first'], '202')?.type).to.equal('array');
    expect(answerOf(paths['/papers/last'], '201')).to.deep.equal(ref('DocRead'));
    const handWritten = OWN.filter((status) => status !== '405');
    expect(statusesOf(paths['/papers/first'])).to.have.members(['202', '204', ...OWN]);
    expect(statusesOf(paths['/papers/last'])).to.have.members(['201', ...OWN]);
    expect(statusesOf(paths['/closed'])).to.have.members(['200', '205', '401', ...handWritten]);
    expect(statusesOf(paths['/closed/last'])).to.have.members(['200', '403', ...handWritten]);
  });

  it('describes the answers of routes as Answers says', async () => {
    class Count {
      @IsInt() declare words: number;
      @IsOptional() @IsString() @Expose({ name: 'author_name' }) declare author?: string;
      @Exclude() @IsString() declare secret: string;
    }
    class Papers extends crudController(Doc, { prefix: '/papers', endpoints: ['read'] }) {
      @Get('/first')
      @Answers(Doc)
      async first() {
        return Doc.build({ title: 'First' });
      }

      @Get('/last')
      @Answers([Maker])
      async last() {
        return [];
      }
    }
    class MorePapers extends Papers {}
    @JsonController('/counts')
    class Counts {
      @Get('/')
      @Answers([Count])
      async all() {
        return [];
      }
    }
    const { crud } = await buildApp({ models: [Doc], controllers: [MorePapers, Counts] });
    const { paths } = crud.openapi();
    expect(answerOf(paths['/papers/first'])).to.deep.equal(ref('DocRead'));
    // The model is no resource of this application.
    expect(answerOf(paths['/papers/last'])).to.deep.equal({ type: 'array', items: ref('MakerRead') });
    expect(answerOf(paths['/counts'])).to.deep.equal({ type: 'array', items: ref('Count') });
    const { DocRead, MakerRead, ...schemas } = crud.openapi().components.schemas;
    expect(Object.keys(DocRead?.properties ?? {})).to.deep.equal(['id', 'title']);
    expect(MakerRead?.required).to.deep.equal(['id', 'name']);
    expect(schemas['Count']).to.deep.equal({
      type: 'object',
      properties: { words: { type: 'integer' }, author_name: { type: ['string', 'null'] } },
      required: ['words'],
    });
    await expectValid(crud);
  });

  it('says how clients tell who they are, where docs does', async () => {
    const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as const;
    const cookie = { type: 'apiKey', in: 'cookie', name: 'session' } as const;
    const { crud } = await buildApp({
      models: [Doc],
      controllers: [DocController],
      routing: { authorizationChecker: () => true },
      docs: { securitySchemes: { bearer, cookie } },
    });
    const { security, components, paths } = crud.openapi();
    expect(security).to.deep.equal([{}, { bearer: [] }, { cookie: [] }]);
    expect(components.securitySchemes).to.deep.equal({ bearer, cookie });
    expect(paths['/papers/{id}']?.get?.security).to.deep.equal([{ bearer: [] }, { cookie: [] }]);
    expect(paths['/papers']?.get).not.to.have.property('security');
    await expectValid(crud);
    expect(app.crud.openapi().security).to.deep.equal([]);
    expect(app.crud.openapi().components).not.to.have.property('securitySchemes');
  });

  it('describes what a route of a subclass takes of its resource', () => {
    const words = operation('get', '/api/gadgets/{id}/words');
    expect(words.parameters).to.deep.equal([
      { name: 'id', in: 'path', required: true, description: 'The id.', schema: { type: 'integer' } },
    ]);
    expect(words.responses).to.have.all.keys('200', ...OWN);
    const picked = operation('get', '/api/gadgets/picked');
    const list = operation('get', '/api/gadgets');
    expect(picked.parameters).to.deep.equal([
      ...(list.parameters ?? []),
      { name: 'on', in: 'query', required: false, schema: { type: 'boolean' } },
    ]);
    expect(picked.responses['203']).to.deep.equal(list.responses['200']);
    expect(picked.responses).to.have.all.keys('203', '403', ...OWN);
  });

  it('describes whole records, also included ones, where `partial` is not asked for', async () => {
    const { docs, ...options } = DESCRIBED_OPTIONS;
    const { crud } = await buildApp(options);
    const { GadgetRead, GadgetPartial, GadgetPage, GadgetPartsItem } = crud.openapi().components.schemas;
    const read = crud.openapi().paths['/api/gadgets/{id}'];
    expect(docs).to.have.property('partial', true);
    expect(answerOf(read)).to.deep.equal(ref('GadgetRead'));
    expect(GadgetPage?.properties?.['items']?.items).to.deep.equal(answerOf(read));
    expect(GadgetPartial).to.equal(undefined);
    expect(GadgetRead?.required).to.include.members(['id', 'code']).and.not.include('parts');
    expect(GadgetPartsItem?.required).to.deep.equal(['id', 'name', 'length', 'gadgetId', 'materialSymbol']);
  });

  it('describes the page of a route where the resource itself has no list', async () => {
    class Pages extends crudController(Maker, { endpoints: ['read'] }) {
      @Get('/all') all(@InjectListQuery() query: OffsetListQuery) {
        return new Repository(Maker).page(query);
      }
    }
    const { crud } = await buildApp({ models: [Maker], controllers: [Pages] });
    const { paths, components } = crud.openapi();
    expect(answerOf(paths['/makers/all'])).to.deep.equal(ref('MakerPage'));
    expect(components.schemas).to.include.keys('MakerPage', 'MakerRead');
  });

  it('describes the relations that may be included, and what is said of each', () => {
    const parameters = operation('get', '/api/gadgets').parameters ?? [];
    const from = parameters.findIndex(({ name }) => name === 'include');
    expect(parameters[from]).to.deep.include({
      required: false,
      schema: {
        type: 'array',
        items: { type: 'string', enum: ['maker', 'parts', 'parts.material', 'parts.gadget'] },
        minItems: 1,
        maxItems: 4,
        uniqueItems: true,
      },
    });
    const names = parameters.slice(from + 1).map(({ name }) => name);
    expect(names.join(' ')).to.equal(
      'maker.fields parts.size parts.sort parts.q parts.fields parts.material.fields parts.gadget.fields',
    );
    const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
    expect(schemas.get('maker.fields')?.items?.enum).to.deep.equal(['id', 'name']);
    expect(schemas.get('parts.size')).to.deep.equal({ type: 'integer', minimum: 0, maximum: 3 });
    expect(schemas.get('parts.sort')?.items?.enum).to.deep.equal(['name', '-name', 'length', '-length']);
    const examples = ['name==text', 'length==42', 'name==text;length==42'];
    expect(schemas.get('parts.q')?.examples).to.deep.equal(examples);
    const read = operation('get', '/api/gadgets/{id}').parameters ?? [];
    const others = read.filter(({ name }) => name !== 'id' && name !== 'fields');
    expect(others).to.deep.equal(parameters.slice(from));
  });

  it('describes relations in records that are read, with a schema for each path', () => {
    const { schemas } = app.crud.openapi().components;
    const maker = { anyOf: [ref('GadgetMaker'), { type: 'null' }] };
    const relations = { maker, parts: ref('GadgetParts') };
    for (const name of ['GadgetRead', 'GadgetPartial']) {
      expect(schemas[name]?.properties).to.deep.include(relations);
      expect(schemas[name]?.required ?? []).to.not.include.members(['maker', 'parts']);
    }
    expect(schemas['GadgetMaker']).to.deep.equal({
      description: 'The record of `maker`, with the properties that `maker.fields` names, or all.',
      type: 'object',
      properties: schemas['MakerRead']?.properties,
    });
    expect(schemas['GadgetParts']).to.deep.equal({
      description: 'The first items of `parts`.',
      type: 'object',
      properties: {
        items: { type: 'array', items: ref('GadgetPartsItem'), maxItems: 3 },
        has_next: { type: 'boolean', description: 'Whether there are others.' },
      },
      required: ['items', 'has_next'],
    });
    const properties = Object.keys(schemas['GadgetPartsItem']?.properties ?? {}).join(' ');
    expect(properties).to.equal('id name length gadgetId materialSymbol material gadget');
    expect(schemas['GadgetPartsItem']?.properties?.['material']).to.deep.equal({
      anyOf: [ref('GadgetPartsMaterial'), { type: 'null' }],
    });
    // Relations that are not declared behind a path are left out, though the model has them.
    expect(schemas['GadgetPartsGadget']?.properties).to.not.have.any.keys('maker', 'parts');
    expect(schemas).to.not.have.any.keys('PartRead', 'MaterialRead', 'MakerWritten');
  });

  it('describes what a write answers without relations', () => {
    const { GadgetWritten, GadgetRead } = app.crud.openapi().components.schemas;
    const written = ref('GadgetWritten');
    const answers = [
      operation('post', '/api/gadgets').responses['201'],
      operation('patch', '/api/gadgets/{id}').responses['200'],
    ] as ResponseObject[];
    for (const { content } of answers) expect(content?.['application/json']?.schema).to.deep.equal(written);
    expect(GadgetWritten?.properties).to.not.have.any.keys('maker', 'parts');
    expect(GadgetWritten?.required).to.deep.equal(GadgetRead?.required);
  });

  it('gives a relation another name where its own is taken', async () => {
    class Owns extends crudController(Own, { include: { read: true, 'read.read': true } }) {}
    const { crud } = await buildApp({ models: [], controllers: [Owns] });
    const { OwnRead, OwnRead2, OwnReadRead } = crud.openapi().components.schemas;
    const orNull = (name: string) => ({ anyOf: [ref(name), { type: 'null' }] });
    expect(OwnRead?.properties?.['read']).to.deep.equal(orNull('OwnRead2'));
    expect(OwnRead2?.properties?.['read']).to.deep.equal(orNull('OwnReadRead'));
    expect(OwnReadRead?.properties).to.not.have.property('read');
  });

  it('says that a request may be refused where a rule guards what is included', () => {
    const { paths } = app.crud.openapi();
    for (const path of ['/api/gadgets', '/api/gadgets/{id}'])
      expect(statusesOf(paths[path])).to.include('403');
    expect(statusesOf(paths['/api/makers'])).to.not.include('403');
  });

  it('says that a request may be refused where rows have rules', async () => {
    class Ruled extends crudController(Maker, { visible: () => EVERYTHING }) {
      @Get('/:id/number') number(@InjectId() id: string) {
        return { id };
      }
      @Get('/plain') plain() {
        return {};
      }
    }
    const { paths } = (await buildApp({ models: [Maker], controllers: [Ruled] })).crud.openapi();
    expect(statusesOf(paths['/makers/{id}/number'])).to.have.members(['200', '403', ...OWN]);
    expect(statusesOf(paths['/makers/plain'])).to.have.members(['200', ...OWN]);
  });

  it('is frozen', () => {
    const document = app.crud.openapi();
    expect(document).to.equal(app.crud.openapi());
    expect(Object.isFrozen(document.components.schemas['GadgetRead']?.properties)).to.equal(true);
  });

  it('is the same bytes each time, with a tag by which browsers ask whether it has changed', async () => {
    const first = await app.agent.get('/openapi.json');
    const second = await app.agent.get('/openapi.json');
    expect(first.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    expect([second.text, second.headers['etag']]).to.deep.equal([first.text, first.headers['etag']]);
    const unchanged = await app.agent.get('/openapi.json').set('If-None-Match', first.headers['etag'] ?? '');
    expect(unchanged.status).to.equal(304);
  });

  it('is served by tag: the operations of those that are named, with all that they refer to', async () => {
    const whole = app.crud.openapi();
    for (const tags of [['Gadget'], ['Maker', 'Health'], whole.tags.map(({ name }) => name), ['']]) {
      const query = new URLSearchParams(tags.map((tag): [string, string] => ['tag', tag]));
      const { body } = await app.agent.get(`/openapi.json?${query}`).expect(200);
      const paths = Object.entries(whole.paths).flatMap(([path, item]) => {
        const own = Object.entries(item).filter(([, operation]) =>
          operation.tags.some((tag) => tags.includes(tag)),
        );
        return own.length > 0 ? [[path, Object.fromEntries(own)]] : [];
      });
      const { components, ...rest } = whole;
      const expected = { ...rest, paths: Object.fromEntries(paths), components };
      expect({ ...body, components }).to.deep.equal(expected);
      const isUsed = (kind: string) => (name: string) =>
        JSON.stringify(body).includes(`"#/components/${kind}/${name}"`);
      for (const [kind, members] of Object.entries<object>(body.components))
        expect(Object.keys(members).every(isUsed(kind)), `${tags} ${kind}`).to.equal(true);
      expect(await new Validator().validate(structuredClone(body))).to.include({ valid: true });
    }
    const detail =
      "The document has no tag 'makr'. Did you mean 'Maker'? Its member 'tags' names all of them.";
    const unknown = await app.agent.get('/openapi.json?tag=Maker&tag=makr');
    expectIssue(unknown, 400, { parameter: 'tag', code: 'tag.unknown', detail });
  });

  it('is written as the application writes JSON', async () => {
    const { agent } = await buildApp({ models: [Maker] }, (each) => void each.set('json spaces', 1));
    expect((await agent.get('/openapi.json')).text.split('\n')[1]).to.equal(' "openapi": "3.1.0",');
  });

  it('has no other method', async () => {
    expectNoMethod(await app.agent.post('/openapi.json'), 'POST', 'GET, HEAD, OPTIONS');
  });

  it('takes routes that are not as usual', async () => {
    const options = { ...DESCRIBED_OPTIONS, routePrefix: '', health: false } as const;
    const { crud } = await buildApp({ ...options, models: [], controllers: [DocController] });
    const { paths } = crud.openapi();
    expect(
      Object.entries(paths).map(([path, item]) => [
        path,
        ...Object.values(item).map(({ operationId, parameters = [], responses }) => ({
          operationId,
          path: parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
          refused: Object.keys(responses).filter((status) => ['401', '403'].includes(status)),
        })),
      ]),
    ).to.deep.equal([
      ['/papers', { operationId: 'listDocs', path: [], refused: [] }],
      [
        '/papers/{id}',
        { operationId: 'readDoc', path: ['id'], refused: ['403'] },
        // The path has one name for the parameter at this place.
        { operationId: 'exchangeDoc', path: ['id'], refused: ['403'] },
      ],
      ['/papers/newest', { operationId: 'latestDoc', path: [], refused: [] }],
      ['/papers/latest', { operationId: 'latestDoc2', path: [], refused: [] }],
    ]);
    await expectValid(crud);
  });

  it('leaves what it is given as it was', async () => {
    const license = { name: 'MIT', identifier: 'MIT' };
    const { crud } = await buildApp({ models: [], docs: { license } });
    expect(crud.openapi().info.license).to.deep.equal(license);
    expect(Object.isFrozen(license)).to.equal(false);
  });

  describe('and its options', () => {
    it('is moved along with the page', async () => {
      const { agent } = await buildApp({ models: [Doc], docs: { path: '/internal/api/', title: 'Mine' } });
      const { body } = await agent.get('/internal/openapi.json');
      expect(body.info.title).to.equal('Mine');
      expect((await agent.get('/internal/api')).status).to.equal(200);
      expect((await agent.get('/openapi.json')).status).to.equal(404);
    });

    it('[G11] is not served where docs is off, and there all the same', async () => {
      const { agent, crud } = await buildApp({ models: [Doc], docs: false, health: false });
      expect((await agent.get('/openapi.json')).status).to.equal(404);
      // The list of the resource is at this path.
      expect((await agent.get('/docs')).body).to.include({ total: 0 });
      expect(Object.keys(crud.openapi().paths)).to.deep.equal(['/docs', '/docs/{id}']);
    });

    it('is not hidden behind a resource', async () => {
      expect(await configProblems(() => buildApp({ models: [Doc] }))).to.deep.equal([
        "Doc is on '/docs', where the documentation is; give one of them another path, such as docs: { path: '/api-docs' }.",
      ]);
    });

    it('says everything that is wrong with its options', async () => {
      const docs = {
        path: 'docs?',
        titel: 'Mine',
        version: 2,
        license: 'MIT',
        securitySchemes: { 'a b': {} },
        partial: 1,
      } as object;
      expect(await configProblems(() => buildApp({ models: [Doc], docs }))).to.deep.equal([
        "docs has no option 'titel'. Did you mean 'title'? The options are path, title, version, description, contact, license, securitySchemes, partial.",
        'docs.path "docs?" is not a plain path; use one such as \'/docs\'.',
        'docs.version is 2; use a text.',
        'docs.license is "MIT"; use an object such as { name: \'…\' }.',
        'docs.partial is 1; use true or false.',
        "docs.securitySchemes has the name 'a b'; use letters, digits, '.', '-' and '_'.",
        'docs.securitySchemes.a b has the type undefined; use http, apiKey, oauth2, openIdConnect, as in ' +
          "{ bearer: { type: 'http', scheme: 'bearer' } }.",
      ]);
    });
  });

  function operations(): [method: string, path: string, operation: OperationObject][] {
    return Object.entries(app.crud.openapi().paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, each]) => [method.toUpperCase(), path, each] as [string, string, OperationObject],
      ),
    );
  }

  function operation(method: 'get' | 'post' | 'patch', path: string): OperationObject {
    return app.crud.openapi().paths[path]?.[method] as OperationObject;
  }
});
