/** Ours with versioned articles. */
import 'reflect-metadata';
import { type BootstrapOptions, bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';

@Crud({
  prefix: '/articles',
  pagination: 'cursor',
  filterAllow: ['id'],
  endpoints: ['read', 'create', 'createMany', 'update', 'updateMany'],
})
@Table({ tableName: 'articles', version: true })
class Article extends ArticleColumns {}

/** Listens. */
export async function serveWrites(options: BootstrapOptions = {}): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const models = [Article];
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS } })(app);
  await bootstrap(app, { models, ...options });
  await serve(app, { port, host: HOST });
}
