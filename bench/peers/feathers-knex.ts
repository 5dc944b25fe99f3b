/** Feathers on Koa with Knex, which has no timestamps of its own: a hook sets them. */
import { KnexService } from '@feathersjs/knex';
import knex from 'knex';
import { CONNECTIONS, DATABASE_URL } from './environment.js';
import { PAGINATE, serveFeathers } from './feathers-application.js';

/** The part of a call that the hooks change. */
interface Call {
  data: Record<string, unknown>;
}

const Model = knex({ client: 'pg', connection: DATABASE_URL, pool: { min: 0, max: CONNECTIONS } });

async function setCreated(call: Call): Promise<void> {
  const now = new Date();
  call.data = { ...call.data, createdAt: now, updatedAt: now };
}

async function setUpdated(call: Call): Promise<void> {
  call.data = { ...call.data, updatedAt: new Date() };
}

void serveFeathers(
  new KnexService({ Model, name: 'articles' }),
  new KnexService({ Model, name: 'articles', paginate: PAGINATE }),
  { before: { create: [setCreated], patch: [setUpdated] } },
);
