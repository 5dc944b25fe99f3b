import request from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from './app.js';

let notes: Awaited<ReturnType<typeof createApp>>;

beforeAll(async () => {
  notes = await createApp(process.env.DATABASE_URL);
});

afterAll(() => notes.engine[Symbol.asyncDispose]());

test('a note is written and found, and mistakes are refused', async () => {
  await request(notes.app).post('/notes').send({ title: 'Milk', stars: 3 }).expect(201);
  const { body } = await request(notes.app).get('/notes').query({ q: 'stars>=3' }).expect(200);
  expect(body.items).toEqual([{ id: 1, title: 'Milk', stars: 3 }]);
  await request(notes.app).post('/notes').send({ titel: 'Bread' }).expect(422);
  await request(notes.app).put('/notes/1/stars').send({ stars: 9 }).expect(422);
});
