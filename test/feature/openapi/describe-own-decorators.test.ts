/** Routes of the user's in the document, as decorators of routing-controllers change their requests and answers. */
import { expect } from 'chai';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsString, ValidateNested } from 'class-validator';
import {
  Body,
  BodyParam,
  ContentType,
  Get,
  HttpCode,
  JsonController,
  OnNull,
  Param,
  Post,
  Put,
  QueryParam,
  QueryParams,
  Redirect,
  Render,
  UploadedFile,
  UploadedFiles,
} from 'routing-controllers';
import { Answers, type BootstrapOptions } from '../../../src/index.js';
import type { PathItemObject } from '../../../src/openapi/openapi-object.js';
import { buildApp } from '../../support/build-app.js';

const BYTES = { type: 'string', format: 'binary' };

describe('decorators of routing-controllers in the document', () => {
  it('have the media types of answers, of templates and of redirects', async () => {
    @JsonController('/media')
    class Media {
      @Get('/bytes')
      @ContentType('application/octet-stream')
      bytes() {
        return Buffer.from('bytes');
      }

      @Get('/text')
      @ContentType('text/csv')
      text() {
        return 'a,b';
      }

      @Get('/json')
      @ContentType('application/ld+json')
      @Answers({ 200: 'Linked data.' })
      json() {
        return {};
      }

      @Get('/page')
      @Render('page')
      page() {
        return {};
      }

      @Get('/moved')
      @Redirect('/media/text')
      @HttpCode(200)
      moved() {
        return {};
      }
    }
    const { paths, agent } = await documented({ controllers: [Media] });
    const answerOf = (path: string) => paths[path]?.get?.responses['200'];
    expect(answerOf('/media/bytes'))
      .to.have.property('content')
      .that.deep.equals({ 'application/octet-stream': { schema: BYTES } });
    expect(answerOf('/media/text'))
      .to.have.property('content')
      .that.deep.equals({ 'text/csv': { schema: { type: 'string' } } });
    expect(answerOf('/media/json')).to.deep.equal({
      description: 'Linked data.',
      content: { 'application/ld+json': { schema: {} } },
    });
    expect(answerOf('/media/page'))
      .to.have.property('content')
      .that.deep.equals({ 'text/html': { schema: { type: 'string' } } });
    const responses = paths['/media/moved']?.get?.responses;
    expect(responses).to.include.keys('302').and.not.have.property('200');
    expect(responses?.['302']).to.have.nested.property('headers.Location');
    const { status, headers } = await agent.get('/media/moved');
    expect([status, headers['location']]).to.deep.equal([302, '/media/text']);
  });

  it('have uploads as forms', async () => {
    @JsonController('/files')
    class Files {
      @Put('/one')
      one(@UploadedFile('file', { required: true }) _file: object) {
        return {};
      }

      @Post('/many')
      many(@UploadedFiles('photos') _files: object[], @BodyParam('title') _title: string) {
        return {};
      }
    }
    const { paths } = await documented({ controllers: [Files] });
    expect(paths['/files/one']?.put?.requestBody).to.deep.equal({
      required: true,
      content: {
        'multipart/form-data': {
          schema: { type: 'object', properties: { file: BYTES }, required: ['file'] },
        },
      },
    });
    expect(paths['/files/many']?.post?.requestBody).to.deep.equal({
      required: false,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            properties: { title: { type: 'string' }, photos: { type: 'array', items: BYTES } },
          },
        },
      },
    });
  });

  it('have the status of null where one is set', async () => {
    @JsonController('/nothing')
    class Nothing {
      @Get('/own')
      @OnNull(202)
      own() {
        return null;
      }

      @Get('/missing')
      @OnNull(404)
      missing() {
        return null;
      }

      @Get('/usual')
      usual() {
        return null;
      }
    }
    const { paths, agent } = await documented({ controllers: [Nothing] });
    const statusesOf = (all: typeof paths, path: string) =>
      Object.keys(all[path]?.get?.responses ?? {}).filter((status) => status < '400');
    expect(statusesOf(paths, '/nothing/own')).to.deep.equal(['200', '202']);
    expect(statusesOf(paths, '/nothing/missing')).to.deep.equal(['200']);
    expect(statusesOf(paths, '/nothing/usual')).to.deep.equal(['200']);
    expect((await agent.get('/nothing/own')).status).to.equal(202);
    const routing = { defaults: { nullResultCode: 203 } };
    const { paths: others } = await documented({ controllers: [Nothing], routing });
    expect(statusesOf(others, '/nothing/own')).to.deep.equal(['200', '202']);
    expect(statusesOf(others, '/nothing/usual')).to.deep.equal(['200', '203']);
  });

  it('describe bodies no more strictly than they are validated', async () => {
    class Part {
      @IsInt() declare size: number;
    }
    class Form {
      @IsString() declare name: string;
      @IsIn([1, 2]) declare rank: number;
      @Type(() => Part) @ValidateNested() declare part: Part;
    }
    @JsonController('/lax')
    class Lax {
      @Post('/strict')
      strict(@Body() _form: Form) {
        return {};
      }

      @Post('/off')
      off(@Body({ validate: false }) _form: Form) {
        return {};
      }

      @Post('/list')
      list(@Body({ type: Form, validate: false }) _forms: Form[]) {
        return {};
      }

      @Post('/numbers')
      numbers(@Body({ type: Number, validate: false }) _numbers: number[]) {
        return {};
      }

      @Post('/unknown')
      unknown(@Body({ validate: { forbidNonWhitelisted: false } }) _form: Form) {
        return {};
      }

      @Post('/missing')
      missing(@Body({ validate: { skipMissingProperties: true } }) _form: Form) {
        return {};
      }

      @Post('/absent')
      absent(@Body({ validate: { skipUndefinedProperties: true } }) _form: Form) {
        return {};
      }

      @Get('/query')
      query(@QueryParams({ validate: false }) _form: Part) {
        return {};
      }
    }
    const { paths, agent } = await documented({ controllers: [Lax] });
    const bodyOf = (path: string, all = paths) =>
      all[`/lax/${path}`]?.post?.requestBody?.content['application/json']?.schema;
    expect(bodyOf('strict')).to.deep.equal({ $ref: '#/components/schemas/Form' });
    expect(bodyOf('off')).to.deep.equal({});
    expect(bodyOf('list')).to.deep.equal({});
    expect(bodyOf('numbers')).to.deep.equal({ type: 'array', items: { type: 'number' } });
    const name = { type: 'string' };
    const part = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
    expect(bodyOf('unknown')).to.deep.equal({
      type: 'object',
      properties: { name, rank: { enum: [1, 2] }, part },
      required: ['name', 'rank'],
    });
    expect(bodyOf('missing')).to.deep.equal({
      type: 'object',
      properties: {
        name: { type: ['string', 'null'] },
        rank: { anyOf: [{ enum: [1, 2] }, { type: 'null' }] },
        part: {
          type: ['object', 'null'],
          properties: { size: { type: ['integer', 'null'] } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    });
    expect(bodyOf('absent')).to.not.have.property('required');
    expect(bodyOf('absent')).to.have.nested.property('properties.name').that.deep.equals(name);
    expect(paths['/lax/query']?.get?.parameters).to.deep.equal([
      { name: 'size', in: 'query', required: false, schema: {} },
    ]);
    const sent = { name: 'a', rank: 1, part: { size: 1, other: 1 }, other: 1 };
    for (const [path, body, status] of [
      ['strict', sent, 422],
      ['off', { other: 1 }, 200],
      ['list', {}, 200],
      ['numbers', {}, 422],
      ['unknown', sent, 200],
      ['missing', { rank: null }, 200],
      ['missing', sent, 422],
      ['absent', {}, 200],
      ['absent', { name: null }, 422],
    ] as const)
      expect((await agent.post(`/lax/${path}`).send(body)).status, path).to.equal(status);
    const { paths: off } = await documented({ controllers: [Lax], routing: { validation: false } });
    expect(bodyOf('strict', off)).to.deep.equal({});
  });

  it('let a date be a moment in requests', async () => {
    @JsonController('/moments')
    class Moments {
      @Get('/:day')
      find(@Param('day') _day: Date, @QueryParam('days', { type: Date, isArray: true }) _days: Date[]) {
        return {};
      }

      @Post('/')
      add(@BodyParam('since') _since: Date) {
        return {};
      }

      @Post('/one')
      addOne(@Body() _moment: Date) {
        return {};
      }
    }
    const { paths, agent } = await documented({ controllers: [Moments] });
    const moment = { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] };
    const bodyOf = (path: string) => paths[path]?.post?.requestBody?.content['application/json'];
    expect(paths['/moments/{day}']?.get?.parameters?.map(({ schema }) => schema)).to.deep.equal([
      moment,
      { type: 'array', items: moment },
    ]);
    expect(bodyOf('/moments')?.schema.properties).to.deep.equal({ since: moment });
    expect(bodyOf('/moments/one')).to.deep.equal({ schema: moment, example: '2026-01-31T08:00:00.000Z' });
    const answers = [
      await agent.get('/moments/2026-01-31?days=2026-01-31'),
      await agent.post('/moments').send({ since: '2026-01-31' }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  async function documented(options: BootstrapOptions) {
    const { crud, agent } = await buildApp({ models: [], ...options });
    const paths: Readonly<Record<string, PathItemObject>> = crud.openapi().paths;
    return { paths, agent };
  }
});
