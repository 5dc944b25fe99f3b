/** Our own application: a model for cursors, and one of the same table whose lists have a total. */
import 'reflect-metadata';
import { type BootstrapOptions, bootstrap, Crud, type EngineOptions, engineLifespan } from 'crud-controllers';
import express, { type Express } from 'express';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from './article-columns.js';
import { CONNECTIONS_OF_OURS, readEnvironment } from './environment.js';

/** Large pages are the way to the depth, and not measured. */
const PAGE_SIZE = { default: 20, max: 1_000 };

@Crud({ prefix: '/articles', pagination: 'cursor', pageSize: PAGE_SIZE, filterAllow: ['category'] })
@Table({ tableName: 'articles' })
class Article extends ArticleColumns {}

@Crud({ prefix: '/counted-articles', pagination: 'offset', endpoints: ['list'] })
@Table({ tableName: 'articles' })
class CountedArticle extends ArticleColumns {}

/** Connects, and mounts everything. */
export async function createApplication(
  options: BootstrapOptions = {},
  engine: EngineOptions = {},
): Promise<Express> {
  const { databaseUrl } = readEnvironment();
  const models = [Article, CountedArticle];
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS }, ...engine })(app);
  await bootstrap(app, { models, ...options });
  return app;
}
