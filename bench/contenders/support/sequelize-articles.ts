/** The model and its connection, for the contenders written by hand. */
import { Op } from 'sequelize';
import { Sequelize, Table } from 'sequelize-typescript';
import { ArticleColumns } from './article-columns.js';
import { CONNECTIONS, readEnvironment } from './environment.js';
import type { PageQuery } from './statements.js';

@Table({ tableName: 'articles' })
export class Article extends ArticleColumns {}

/** Connects the model; connections are opened when they are needed. */
export function connectArticles(): void {
  const { databaseUrl } = readEnvironment();
  new Sequelize(databaseUrl, {
    dialect: 'postgres',
    logging: false,
    pool: { max: CONNECTIONS },
    models: [Article],
  });
}

/** The rows of a page, and one more. */
export function findPage({ after, category, size }: PageQuery): Promise<Article[]> {
  return Article.findAll({
    where: {
      ...(after === null ? {} : { id: { [Op.gt]: after } }),
      ...(category === null ? {} : { category }),
    },
    order: [['id', 'ASC']],
    limit: size + 1,
  });
}
