/** The application: its connection to the database, and its routes. */
import { bootstrap, type Engine, engineLifespan } from 'crud-controllers';
import type { Express } from 'express';
import { Note } from './note.js';

/** Connects to the database and mounts all routes. Disposing the engine closes the connections. */
export async function openApp(app: Express, databaseUrl: string): Promise<Engine> {
  const engine = await engineLifespan(databaseUrl, { models: [Note] })(app);
  await bootstrap(app, { models: [Note], docs: { title: '{{name}}' }, landing: true, notFound: true });
  return engine;
}
