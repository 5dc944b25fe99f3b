/** Ours with relations: `bootstrap` and `serve`. */
import 'reflect-metadata';
import { bootstrap, Crud, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { CHILDREN } from './library-http.js';
import { Book, MODELS, Publisher, Writer } from './library-models.js';

Crud<Publisher>({ prefix: '/publishers', pagination: 'cursor' })(Publisher);
Crud<Writer>({
  prefix: '/writers',
  pagination: 'cursor',
  sortAllow: ['id'],
  filterAllow: { books: ['category'] },
  include: { books: { size: { default: CHILDREN, max: 20 } }, 'books.publisher': true },
})(Writer);
Crud<Book>({
  prefix: '/books',
  pagination: 'cursor',
  sortAllow: ['id', 'publishedAt'],
  defaultSort: '-publishedAt',
  filterAllow: { 'writer.country': true },
  include: { writer: true },
})(Book);

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const app = express();
  await engineLifespan(databaseUrl, { models: MODELS, pool: { max: CONNECTIONS_OF_OURS } })(app);
  await bootstrap(app, { models: MODELS });
  await serve(app, { port, host: HOST });
}

void main();
