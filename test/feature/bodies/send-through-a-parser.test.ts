/** Bodies that a parser of the application has read before a route does: a `bodyLimit` that is set holds for them, too. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import express, { type RequestHandler } from 'express';
import { Body, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildBoth } from '../../support/build-app.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'sheets', timestamps: false })
class Sheet extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

class SheetController extends crudController(Sheet) {
  @Post('/weigh')
  weigh(@Body() sheet: object) {
    return { size: JSON.stringify(sheet).length };
  }
}

const LIMIT = 1_024;
const DETAIL = `The body is larger than ${LIMIT} bytes.`;
const TOO_LARGE = { detail: DETAIL, errors: [{ pointer: '', code: 'tooLarge', detail: DETAIL }] };
const bodyOf = (bytes: number): string => `{"text":"${'a'.repeat(bytes - '{"text":""}'.length)}"}`;

const parsers: Readonly<Record<string, () => RequestHandler>> = {
  'express.json()': () => express.json({ limit: '1mb' }),
  'express.text()': () => express.text({ type: '*/*', limit: '1mb' }),
  'express.raw()': () => express.raw({ type: '*/*', limit: '1mb' }),
};

describe('sending a body through a parser of the application', () => {
  const options = { models: [Sheet], controllers: [SheetController] };
  serveTestApp(() => ({ models: [Sheet], bootstrap: options }));

  const statusesOf = async (parser: RequestHandler, bodyLimit: object, path: string, bytes: number) => {
    const both = await buildBoth({ ...options, ...bodyLimit }, (app) => app.use(parser));
    const answers = both.map(({ agent }) => agent.post(path).type('json').send(bodyOf(bytes)));
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  for (const [name, parser] of Object.entries(parsers)) {
    it(`such as ${name} is refused beyond the limit that is set`, async () => {
      const both = await buildBoth({ ...options, bodyLimit: LIMIT }, (app) => app.use(parser()));
      for (const { agent } of both) {
        const fits = await agent.post('/sheets').type('json').send(bodyOf(LIMIT));
        expect(fits.status).to.equal(201);
        const long = await agent
          .post('/sheets')
          .type('json')
          .send(bodyOf(LIMIT + 1));
        expectProblem(long, 413, TOO_LARGE);
      }
    });
  }

  it('is refused beyond it after decompression, where a parser has kept its bytes', async () => {
    const [{ agent }] = await buildBoth({ ...options, bodyLimit: LIMIT }, (app) =>
      app.use(express.raw({ type: '*/*' })),
    );
    const request = agent.post('/sheets').type('json').set('Content-Encoding', 'gzip');
    request.write(gzipSync(bodyOf(LIMIT + 1)));
    expectProblem(await request, 413, TOO_LARGE);
  });

  it('is refused by a route of the user, too, which takes forms of any size', async () => {
    const long = await statusesOf(express.json(), { bodyLimit: LIMIT }, '/sheets/weigh', LIMIT + 1);
    expect(long).to.deep.equal([413, 413]);
    const fits = await statusesOf(express.json(), { bodyLimit: LIMIT }, '/sheets/weigh', LIMIT);
    expect(fits).to.deep.equal([200, 200]);
    const [{ agent }] = await buildBoth({ ...options, bodyLimit: LIMIT }, (app) =>
      app.use(express.urlencoded({ extended: false })),
    );
    const form = await agent
      .post('/sheets/weigh')
      .type('form')
      .send({ text: 'a'.repeat(LIMIT) });
    expect(form.status).to.equal(200);
  });

  it('has the limit of the parser alone where none is set', async () => {
    const json = () => express.json({ limit: '1mb' });
    expect(await statusesOf(json(), {}, '/sheets', 200_000)).to.deep.equal([201, 201]);
    expect(await statusesOf(json(), {}, '/sheets/weigh', 200_000)).to.deep.equal([200, 200]);
  });
});
