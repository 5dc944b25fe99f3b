/** The application: its connection to the database, and its routes. */
import { type BootstrapOptions, bootstrap, type Engine, engineLifespan } from 'crud-controllers';
import type { Express } from 'express';
import { can } from './access.js';
import { models } from './models/index.js';

/** Connects to the database and mounts the routes of all models. Disposing the engine closes the connections. */
export async function openApp(
  app: Express,
  databaseUrl: string | undefined,
  options: BootstrapOptions = {},
): Promise<Engine> {
  const engine = await engineLifespan(databaseUrl, { models })(app);
  await bootstrap(app, {
    docs: { title: '{{name}}' },
    landing: true,
    notFound: true,
    can,
    // An operation without a rule stops the start.
    deny: true,
    ...options,
  });
  return engine;
}
