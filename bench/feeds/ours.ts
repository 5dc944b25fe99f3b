/** Ours: articles with a feed. */
import 'reflect-metadata';
import { bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';

@Crud({ prefix: '/articles', changes: true, filterAllow: ['stock'] })
@Table({ tableName: 'articles' })
class Article extends ArticleColumns {}

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const app = express();
  const pool = { max: CONNECTIONS_OF_OURS };
  await engineLifespan(databaseUrl, { models: [Article], pool, createAll: true })(app);
  await bootstrap(app, { models: [Article], indexAdvice: false });
  await serve(app, { port, host: HOST });
}

void main();
