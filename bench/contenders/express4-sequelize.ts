/** Express 4 and instances of Sequelize, by hand. */
import type express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { checkChanges, checkValues } from './support/article-values.js';
import { HOST, readEnvironment } from './support/environment.js';
import { readPageQuery, toPage } from './support/page-query.js';
import { Article, connectArticles, findPage } from './support/sequelize-articles.js';

// The package has another name here, under which it has no types.
const framework = require('express4') as typeof express;

connectArticles();
const app = framework();
app.use(framework.json());

app.get(
  '/articles/:id',
  caught(async ({ params }, response) => {
    const article = await Article.findByPk(Number(params['id']));
    return article ? response.json(article) : response.status(404).json({ error: 'Not Found' });
  }),
);

app.get(
  '/articles',
  caught(async (request, response) => {
    const query = readPageQuery(request.query);
    if (!query) return response.status(400).json({ error: 'Bad query' });
    const [rows, total] = await Promise.all([findPage(query), query.isCounted ? Article.count() : undefined]);
    return response.json({ ...toPage(rows, query.size), total });
  }),
);

app.post(
  '/articles',
  caught(async ({ body }, response) => {
    const values = checkValues(body);
    if (!values) return response.status(422).json({ error: 'Bad body' });
    return response.status(201).json(await Article.create({ ...values }));
  }),
);

app.patch(
  '/articles/:id',
  caught(async ({ params, body }, response) => {
    const changes = checkChanges(body);
    if (!changes) return response.status(422).json({ error: 'Bad body' });
    const article = await Article.findByPk(Number(params['id']));
    return article
      ? response.json(await article.update(changes))
      : response.status(404).json({ error: 'Not Found' });
  }),
);

app.listen(readEnvironment().port, HOST);

/** Express 4 does not catch what a promise rejects with. */
function caught(handler: (request: Request, response: Response) => Promise<unknown>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    handler(request, response).catch(next);
  };
}
