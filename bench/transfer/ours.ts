/** Ours: articles that are exported as rows and as records, and prices that are imported. */
import 'reflect-metadata';
import { bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import {
  AllowNull,
  AutoIncrement,
  Column,
  DataType,
  Model,
  PrimaryKey,
  Table,
  Unique,
} from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';

@Crud({ prefix: '/articles', export: ['csv', 'ndjson'] })
@Table({ tableName: 'articles' })
class Article extends ArticleColumns {}

/** A getter is code of the user's, so each row becomes a record. */
class ColumnsWithGetter extends ArticleColumns {
  @AllowNull(false)
  @Column({
    type: DataType.STRING(120),
    get(this: ColumnsWithGetter) {
      return this.getDataValue('title');
    },
  })
  declare title: string;
}

@Crud({ prefix: '/record-articles', export: ['csv', 'ndjson'] })
@Table({ tableName: 'articles' })
class RecordArticle extends ColumnsWithGetter {}

@Crud({
  prefix: '/prices',
  endpoints: ['list', 'create', 'update'],
  upsert: [['code']],
  import: { modes: ['create', 'upsert'], maxBytes: '100mb', atomicRows: 200_000 },
})
@Table({ tableName: 'prices', timestamps: false })
class Price extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Unique
  @AllowNull(false)
  @Column(DataType.STRING(20))
  declare code: string;

  @AllowNull(false)
  @Column(DataType.STRING(80))
  declare name: string;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare stock: number;

  @Column(DataType.DECIMAL(10, 2))
  declare price: string | null;
}

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const models = [Article, RecordArticle, Price];
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS } })(app);
  await bootstrap(app, { models });
  await serve(app, { port, host: HOST });
}

void main();
