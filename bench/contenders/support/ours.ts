/** Our own application: a model for cursors, and one of the same table whose lists have a total. */
import 'reflect-metadata';
import {
  type BootstrapOptions,
  bootstrap,
  Crud,
  type CrudOptions,
  type EngineOptions,
  engineLifespan,
  serve,
} from 'crud-controllers';
import express, { type Express } from 'express';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from './article-columns.js';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from './environment.js';

/** Large pages are the way to the depth, and not measured. */
const PAGE_SIZE = { default: 20, max: 1_000 };

/** The resource of most workloads. */
export const ARTICLES: CrudOptions<ArticleColumns> = {
  prefix: '/articles',
  pagination: 'cursor',
  pageSize: PAGE_SIZE,
  filterAllow: ['category'],
};

/** The resource of the list with a total. */
export const COUNTED_ARTICLES: CrudOptions<ArticleColumns> = {
  prefix: '/counted-articles',
  pagination: 'offset',
  endpoints: ['list'],
};

@Crud(ARTICLES)
@Table({ tableName: 'articles' })
export class Article extends ArticleColumns {}

@Crud(COUNTED_ARTICLES)
@Table({ tableName: 'articles' })
export class CountedArticle extends ArticleColumns {}

/** The settings of a contender that differ from those of `ours`. */
export interface Setup {
  readonly models?: readonly (typeof ArticleColumns)[];
  readonly bootstrap?: BootstrapOptions;
  readonly engine?: EngineOptions;
}

/** Connects, and mounts everything. */
export async function createApplication(
  setup: Setup = {},
  databaseUrl = readEnvironment().databaseUrl,
): Promise<Express> {
  const models = [...(setup.models ?? [Article, CountedArticle])];
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS }, ...setup.engine })(app);
  await bootstrap(app, { models, ...setup.bootstrap });
  return app;
}

/** Serves as in the README, by `bootstrap` and `serve`. */
export async function serveApplication(setup: Setup = {}, databaseUrl?: string): Promise<void> {
  await serve(await createApplication(setup, databaseUrl), { port: readEnvironment().port, host: HOST });
}
