/** Ours: posts that are searched by words, and the same table as full text. */
import 'reflect-metadata';
import { type BootstrapOptions, bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import {
  AllowNull,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';

@Crud({ prefix: '/sections', sortAllow: ['name'] })
@Table({ tableName: 'sections', timestamps: false })
class Section extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(40))
  declare name: string;
}

class PostColumns extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(120))
  declare title: string;

  @AllowNull(false)
  @Column(DataType.TEXT)
  declare text: string;

  @AllowNull(false)
  @ForeignKey(() => Section)
  @Column(DataType.INTEGER)
  declare sectionId: number;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare stock: number;

  @Column(DataType.DECIMAL(10, 2))
  declare price: string | null;

  @AllowNull(false)
  @Column(DataType.DATE(3))
  declare createdAt: Date;
}

@Crud({
  prefix: '/posts',
  pagination: 'cursor',
  endpoints: ['list'],
  filterAllow: ['sectionId'],
  search: ['title'],
  sortAllow: { price: { nulls: 'last' }, 'section.name': true },
  aggregate: { group: [{ createdAt: ['month'] }], sum: ['stock'], avg: ['price'] },
})
@Table({ tableName: 'posts', timestamps: false })
class Post extends PostColumns {
  @BelongsTo(() => Section)
  declare section?: Section;
}

@Crud({
  prefix: '/text-posts',
  endpoints: ['list'],
  count: { default: 'none', allow: ['none', 'exact'] },
  search: { vector: 'vector', of: ['title', 'text'], config: 'simple' },
})
@Table({ tableName: 'posts', timestamps: false })
class TextPost extends PostColumns {}

/** Listens. */
export async function serveQueries(options: BootstrapOptions = {}): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const models = [Section, Post, TextPost];
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS } })(app);
  await bootstrap(app, { models, ...options });
  await serve(app, { port, host: HOST });
}
