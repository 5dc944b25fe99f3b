/** Routes of the user's in the document, as decorators of routing-controllers change their requests and answers. */
import { expect } from 'chai';
import {
  BodyParam,
  ContentType,
  Get,
  HttpCode,
  JsonController,
  OnNull,
  Post,
  Put,
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

  async function documented(options: BootstrapOptions) {
    const { crud, agent } = await buildApp({ models: [], ...options });
    const paths: Readonly<Record<string, PathItemObject>> = crud.openapi().paths;
    return { paths, agent };
  }
});
