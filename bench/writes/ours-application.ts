/** Ours with versioned articles. */
import 'reflect-metadata';
import { type BootstrapOptions, bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { Line, Order } from './order-models.js';
import { LINES } from './orders.js';

@Crud({
  prefix: '/articles',
  pagination: 'cursor',
  filterAllow: ['id'],
  endpoints: ['read', 'create', 'createMany', 'update', 'updateMany'],
})
@Table({ tableName: 'articles', version: true })
class Article extends ArticleColumns {}

@Crud({ prefix: '/kept-articles', endpoints: ['update', 'updateMany'], history: true })
@Table({ tableName: 'kept_articles', version: true })
class KeptArticle extends ArticleColumns {}

Crud<Order>({ prefix: '/orders', endpoints: ['create', 'update'], nested: { lines: { max: LINES } } })(Order);
Crud<Line>({ prefix: '/order-lines', sortAllow: ['id'], defaultSort: 'id' })(Line);

/** Listens. `createAll` makes the table of keys; the articles are there already. */
export async function serveWrites(options: BootstrapOptions = {}): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const models = [Article, KeptArticle, Order, Line];
  const app = express();
  const pool = { max: CONNECTIONS_OF_OURS };
  await engineLifespan(databaseUrl, { models, pool, createAll: true })(app);
  await bootstrap(app, {
    models,
    idempotency: { principal: () => 'bench' },
    history: { actor: () => 'bench' },
    ...options,
  });
  await serve(app, { port, host: HOST });
}
