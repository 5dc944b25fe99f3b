/** Feathers on Koa with Sequelize, whose records it reads raw by default. */
import { SequelizeService } from 'feathers-sequelize';
import { PAGINATE, serveFeathers } from './feathers-application.js';
import { Article } from './sequelize-article.js';

void serveFeathers(
  new SequelizeService({ Model: Article }),
  new SequelizeService({ Model: Article, paginate: PAGINATE }),
);
