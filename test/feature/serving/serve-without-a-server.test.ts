/** An application without a server of Node: adapters of AWS Lambda call it with requests that they make of events. */
import serverlessExpress from '@codegenie/serverless-express';
import { expect } from 'chai';
import { IsInt } from 'class-validator';
import type { Express } from 'express';
import { Body, JsonController, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import serverlessHttp from 'serverless-http';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { SERVES_EXPORTS, SERVES_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    'delete',
    ...(SERVES_MANY ? (['createMany'] as const) : []),
  ],
  filterAllow: ['name'],
  ...(SERVES_EXPORTS ? { export: ['csv'] } : {}),
  ...(SERVES_MANY ? { import: { modes: ['create'] } } : {}),
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.STRING(1_000)) declare name: string;
}

class Weight {
  @IsInt() declare grams: number;
}

@JsonController('/weights')
class WeightController {
  @Post('/')
  weigh(@Body() { grams }: Weight) {
    return { grams };
  }
}

interface Answer {
  readonly statusCode: number;
  readonly body: string;
}

/** An event of API Gateway, whose payload format is 1.0. */
function eventOf(
  method: string,
  path: string,
  query: Readonly<Record<string, string>>,
  body?: unknown,
): object {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json';
  const headers = { Host: 'parcels.test', ...(body === undefined ? {} : { 'Content-Type': type }) };
  const lists = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
  return {
    resource: '/{proxy+}',
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: lists(headers),
    queryStringParameters: query,
    multiValueQueryStringParameters: lists(query),
    requestContext: { httpMethod: method, path, stage: 'prod', identity: { sourceIp: '192.0.2.1' } },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    isBase64Encoded: false,
  };
}

type Handler = (event: object, context: object) => Promise<Answer>;

const ADAPTERS: Readonly<Record<string, (app: Express) => Handler>> = {
  'serverless-http': (app) => serverlessHttp(app as never) as unknown as Handler,
  '@codegenie/serverless-express': (app) => serverlessExpress({ app }) as unknown as Handler,
};

describe('an application without a server', () => {
  serveTestApp(() => ({ models: [Parcel], bootstrap: { models: [] } }));

  for (const [name, adapt] of Object.entries(ADAPTERS)) {
    it(`answers what ${name} makes of events`, async () => {
      const { app } = await buildApp({ models: [Parcel], controllers: [WeightController], bodyLimit: 1_000 });
      const handle = adapt(app);
      const send = async (
        method: string,
        path: string,
        body?: unknown,
        query: Readonly<Record<string, string>> = {},
      ) => {
        const { statusCode, body: text } = await handle(eventOf(method, path, query, body), {});
        return [statusCode, /^[{[]/.test(text) ? JSON.parse(text) : text] as const;
      };
      const [status, made] = await send('POST', '/parcels', { name: 'Grüße' });
      expect([status, made.name]).to.deep.equal([201, 'Grüße']);
      const at = `/parcels/${made.id}`;
      // Their bodies are read after the rules, when an adapter may have closed the request.
      if (SERVES_MANY) {
        const many = await send('POST', '/parcels', [{ name: 'a' }, { name: name }]);
        expect([many[0], many[1].items.length]).to.deep.equal([201, 2]);
        expect((await send('GET', '/parcels', undefined, { q: `name==${name}` }))[1].total).to.equal(1);
      }
      expect(await send('PATCH', at, { name: 'b' })).to.deep.equal([200, { id: made.id, name: 'b' }]);
      expect(await send('GET', at)).to.deep.equal([200, { id: made.id, name: 'b' }]);
      expect(await send('POST', '/weights', { grams: 5 })).to.deep.equal([200, { grams: 5 }]);
      expect((await send('POST', '/weights', { grams: 'x' }))[0]).to.equal(422);
      const large = Array.from({ length: 4 }, () => ({ name: 'n'.repeat(400) }));
      if (SERVES_MANY) expect((await send('POST', '/parcels', large))[0]).to.equal(413);
      expect((await send('PATCH', at, { name: 'n'.repeat(1_000) }))[0]).to.equal(413);
      expect((await send('POST', '/weights', { grams: 5, text: 'n'.repeat(1_000) }))[0]).to.equal(413);
      if (SERVES_EXPORTS) {
        const [, file] = await send('GET', '/parcels', undefined, { format: 'csv', fields: 'name' });
        expect(file.split('\r\n')).to.include.members(['name', 'a', 'b', name]);
      }
      if (SERVES_MANY) {
        const imported = await send('POST', '/parcels/import', `name\r\n${name} 1\r\n${name} 2\r\n`);
        expect(imported[1].created).to.equal(2);
      }
      expect(await send('DELETE', at)).to.deep.equal([204, '']);
      expect((await send('GET', at))[0]).to.equal(404);
    });
  }
});
