/** Express and `pg`, for either version of Express: the routes that somebody would write by hand. */
import type express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { Pool } from 'pg';
import { checkChanges, checkValues } from './article-values.js';
import { CONNECTIONS, HOST, readEnvironment } from './environment.js';
import { readPageQuery, toPage } from './page-query.js';
import {
  type ArticleRow,
  countStatement,
  insertStatement,
  pageStatement,
  readStatement,
  updateStatement,
} from './statements.js';

/** Wraps what Express 4 does not catch. */
type Handler = (request: Request, response: Response) => Promise<unknown>;

/** Listens. */
export function serveExpressPg(framework: typeof express): void {
  const { port, databaseUrl } = readEnvironment();
  const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  const app = framework();
  app.use(framework.json());
  app.get(
    '/articles/:id',
    caught(async ({ params }, response) => {
      const id = Number(params['id']);
      if (!Number.isInteger(id)) return response.status(400).json({ error: 'Bad id' });
      const { rows } = await pool.query<ArticleRow>(readStatement(id));
      return rows[0] ? response.json(rows[0]) : response.status(404).json({ error: 'Not Found' });
    }),
  );
  app.get(
    '/articles',
    caught(async (request, response) => {
      const query = readPageQuery(request.query);
      if (!query) return response.status(400).json({ error: 'Bad query' });
      const [{ rows }, counted] = await Promise.all([
        pool.query<ArticleRow>(pageStatement(query)),
        query.isCounted ? pool.query<{ total: number }>(countStatement()) : null,
      ]);
      return response.json({ ...toPage(rows, query.size), ...counted?.rows[0] });
    }),
  );
  app.post(
    '/articles',
    caught(async ({ body }, response) => {
      const values = checkValues(body);
      if (!values) return response.status(422).json({ error: 'Bad body' });
      const { rows } = await pool.query<ArticleRow>(insertStatement(values));
      return response.status(201).json(rows[0]);
    }),
  );
  app.patch(
    '/articles/:id',
    caught(async ({ params, body }, response) => {
      const id = Number(params['id']);
      const changes = checkChanges(body);
      if (!Number.isInteger(id)) return response.status(400).json({ error: 'Bad id' });
      if (!changes) return response.status(422).json({ error: 'Bad body' });
      const { rows } = await pool.query<ArticleRow>(updateStatement(id, changes));
      return rows[0] ? response.json(rows[0]) : response.status(404).json({ error: 'Not Found' });
    }),
  );
  app.listen(port, HOST);
}

function caught(handler: Handler) {
  return (request: Request, response: Response, next: NextFunction): void => {
    handler(request, response).catch(next);
  };
}
