/** Express 4 and Sequelize with `include`, as its documentation shows it. */
import type express from 'express';
import type { Request, Response } from 'express';
import type { FindOptions } from 'sequelize';
import { Sequelize } from 'sequelize-typescript';
import { CONNECTIONS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { CHILDREN, type LibraryQuery, readLibraryQuery } from './library-http.js';
import { Book, MODELS, Publisher, Writer } from './library-models.js';

// The package has another name here, under which it has no types.
const framework = require('express4') as typeof express;

const NEWEST = [
  ['publishedAt', 'DESC'],
  ['id', 'DESC'],
] as [string, string][];

/** Listens; relations to several are read with the page, or each `separate`ly. */
export function serveSequelize(isSeparate: boolean): void {
  const { port, databaseUrl } = readEnvironment();
  new Sequelize(databaseUrl, {
    dialect: 'postgres',
    logging: false,
    pool: { max: CONNECTIONS },
    models: MODELS,
  });
  const app = framework();
  app.get(['/books', '/writers'], (request: Request, response: Response, next) => {
    const query = readLibraryQuery(request.originalUrl);
    if (!query) return void response.status(400).json({ error: 'Bad query' });
    const found = query.table === 'books' ? findBooks(query) : findWriters(query, isSeparate);
    found.then((answer) => response.json(answer), next);
  });
  app.listen(port, HOST);
}

async function findBooks({ size, country, include }: LibraryQuery): Promise<object> {
  const writer = country === null ? {} : { where: { country }, attributes: [], required: true };
  const rows = await Book.findAll({
    order: [['id', 'ASC']],
    limit: size + 1,
    ...(include || country !== null ? { include: [{ model: Writer, ...writer }] } : {}),
  });
  return { items: rows.slice(0, size), has_next: rows.length > size };
}

async function findWriters(query: LibraryQuery, isSeparate: boolean): Promise<object> {
  const { size, include } = query;
  const rows = await Writer.findAll({ limit: size + 1, ...optionsOf(query, isSeparate) });
  const isUnordered = isSeparate && include === 'books.publisher';
  const page = rows.slice(0, size);
  const items = include ? page.map((row) => withFirstBooks(row, isUnordered)) : page;
  return { items, has_next: rows.length > size };
}

function optionsOf({ isDescending, category, include }: LibraryQuery, isSeparate: boolean): FindOptions {
  const direction = isDescending ? 'DESC' : 'ASC';
  if (category !== null) {
    const books = { model: Book, attributes: [], where: { category }, required: true, duplicating: true };
    return { order: [['id', direction]], include: [books] };
  }
  if (!include) return { order: [['id', direction]] };
  const publishers = include === 'books.publisher' ? { include: [Publisher] } : {};
  if (isSeparate) {
    const books = { model: Book, separate: true, order: NEWEST, limit: CHILDREN + 1, ...publishers };
    return { order: [['id', direction]], include: [books] };
  }
  // Only separate relations have a limit.
  return {
    order: [
      ['id', direction],
      ...NEWEST.map(([name, order]) => ['books', name, order] as [string, string, string]),
    ],
    include: [{ model: Book, ...publishers }],
  };
}

function withFirstBooks(writer: Writer, isUnordered: boolean): object {
  const { books = [], ...own } = writer.toJSON() as { books?: Book[] };
  // Where rows of a relation with a limit have relations of their own, Sequelize loses their order.
  if (isUnordered) books.sort((one, other) => +other.publishedAt - +one.publishedAt || other.id - one.id);
  return { ...own, books: { items: books.slice(0, CHILDREN), has_next: books.length > CHILDREN } };
}
