/** Each resource over HTTP, on the database of the service. The tests list and read, and write nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Engine, formatId, Repository } from 'crud-controllers';
import express from 'express';
import { openApp } from '../src/app.js';
import { DATABASE_URL } from '../src/database-url.js';
import { models } from '../src/models/index.js';

interface Resource {
  readonly name: string;
  readonly operations: readonly Operation[];
}

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Attributes that a list is filtered by. */
  readonly filterable?: readonly string[];
}

describe('resources', () => {
  let engine: Engine;
  let server: Server;
  let resources: readonly Resource[];

  before(async () => {
    const app = express();
    // Tests need no index.
    engine = await openApp(app, DATABASE_URL, { indexAdvice: false });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ resources } = await get('/'));
  });

  after(async () => {
    server.close();
    await engine[Symbol.asyncDispose]();
  });

  async function get(path: string) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const text = await response.text();
    assert.equal(response.status, 200, `GET ${path}: ${text}`);
    return JSON.parse(text);
  }

  for (const model of models) {
    it(`of ${model.name} are listed and read`, async (test) => {
      const resource = resources.find(({ name }) => name === model.name);
      if (!resource) return test.skip('The model has no @Crud.');
      const reads = resource.operations.filter(({ method }) => method === 'GET');
      const { path } = reads.find(({ filterable }) => filterable) ?? assert.fail('There is no list.');
      const { items } = await get(`${path}?size=1`);
      assert.ok(items.length <= 1);
      // A table without a key has no path of a record.
      const hasRecords = reads.some(
        (each) => each.path.startsWith(path) && /^\/\{\w+\}$/.test(each.path.slice(path.length)),
      );
      if (!hasRecords || items.length === 0) return;
      // The id of a record has the local times of its key as the table has them.
      const [record] = await new Repository(model).list({ limit: 1 });
      assert.ok(record);
      const id = formatId(model, record);
      // A path cannot have one of these.
      if (['', '.', '..'].includes(id)) return;
      const found = await get(`${path}/${encodeURIComponent(id)}`);
      assert.deepEqual(Object.keys(found), Object.keys(items[0]));
    });
  }
});
