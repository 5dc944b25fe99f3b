/** Notes over HTTP, on a real PostgreSQL. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Engine } from 'crud-controllers';
import express from 'express';
import { openApp } from '../src/app.js';
import { Note } from '../src/note.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

describe('notes', () => {
  let database: TestDatabase;
  let engine: Engine;
  let server: Server;

  before(async () => {
    database = await createTestDatabase();
    const app = express();
    // Tests need no index.
    engine = await openApp(app, database.url, { indexAdvice: false });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  beforeEach(() => Note.truncate({ restartIdentity: true }));

  after(async () => {
    server.close();
    await engine[Symbol.asyncDispose]();
    await database.drop();
  });

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  }

  it('are created, read, changed and deleted', async () => {
    const created = await send('POST', '/notes', { title: 'Milk' });
    assert.equal(created.status, 201);
    assert.equal(created.headers.get('Location'), '/notes/1');
    assert.deepEqual((await send('GET', '/notes/1?fields=title,stars,text')).body, {
      title: 'Milk',
      stars: 0,
      text: null,
    });
    assert.equal((await send('PATCH', '/notes/1', { stars: 5 })).body.stars, 5);
    assert.equal((await send('DELETE', '/notes/1')).status, 204);
    assert.equal((await send('GET', '/notes/1')).status, 404);
  });

  it('are filtered and sorted', async () => {
    await Note.bulkCreate([
      { title: 'Milk', stars: 3 },
      { title: 'Bread', stars: 5 },
      { title: 'Salt', stars: 0 },
    ]);
    const { body } = await send('GET', '/notes?q=stars>=3&sort=-stars&fields=title');
    assert.deepEqual(body.items, [{ title: 'Bread' }, { title: 'Milk' }]);
  });

  it('are refused where they are wrong, and what is wrong is told', async () => {
    await Note.create({ title: 'Milk' });
    const wrong = await send('POST', '/notes', { title: 'Milk', stars: 9 });
    assert.equal(wrong.status, 422);
    assert.deepEqual(wrong.body.errors, [
      { pointer: '/stars', code: 'max', detail: 'stars must not be greater than 5.' },
    ]);
    const twice = await send('POST', '/notes', { title: 'Milk' });
    assert.equal(twice.status, 409);
    assert.equal(twice.body.errors[0].code, 'unique');
  });

  it('are not changed by somebody who has seen an older version', async () => {
    const { headers } = await send('POST', '/notes', { title: 'Milk' });
    const seen = { 'If-Match': String(headers.get('ETag')) };
    assert.equal((await send('PATCH', '/notes/1', { stars: 1 }, seen)).status, 200);
    assert.equal((await send('PATCH', '/notes/1', { stars: 2 }, seen)).status, 412);
  });
});
