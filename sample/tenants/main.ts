/** Serves organisations, projects and tasks: each person sees those of one organisation. */
import 'reflect-metadata';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { bootstrap, engineLifespan } from 'crud-controllers';
import express from 'express';
import { openDatabase } from '../support/open-database.js';
import { authenticate, organisation } from './access.js';
import { Organisation, Project, Task } from './models.js';

const models = [Organisation, Project, Task];

async function main(): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const app = express();
  await using database = await openDatabase('tenants');
  await using _engine = await engineLifespan(database.url, { models, createAll: true })(app);
  await fill();
  app.use('/api', authenticate);
  await bootstrap(app, {
    models,
    routePrefix: '/api',
    // Every model with an organisationId; a model that forgets it has to say who may do what all the same.
    scope: { organisationId: organisation },
    deny: true,
  });

  const server = app.listen(Number(process.env['PORT'] ?? 3000));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`Two tenants: http://localhost:${port}/api/tasks\nCtrl-C ends it.\n`);
  await stopped;
  server.close();
  await once(server, 'close');
}

/** Rows of two organisations, one after the other. */
async function fill(): Promise<void> {
  if ((await Organisation.count()) > 0) return;
  await Organisation.bulkCreate([{ name: 'Bakery' }, { name: 'Observatory' }]);
  await Project.bulkCreate([
    { organisationId: 1, name: 'Rye bread', budget: 500 },
    { organisationId: 2, name: 'Comets', budget: 90_000 },
  ]);
  await Task.bulkCreate([
    { organisationId: 1, projectId: 1, title: 'Buy flour', author: 'Ann' },
    { organisationId: 2, projectId: 2, title: 'Grind the mirror', author: 'Zoe' },
    { organisationId: 1, projectId: 1, title: 'Raise the wages', author: 'Ann', isDraft: true },
    { organisationId: 2, projectId: 2, title: 'Look up', author: 'Zoe' },
  ]);
}

void main();
