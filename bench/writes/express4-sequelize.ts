/** Express 4 and Sequelize, by hand: `bulkCreate` for many, a comparison of versions, and a transaction for a record and its key. */
import { hash } from 'node:crypto';
import type express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { Op, UniqueConstraintError } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Sequelize, Table } from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { checkChanges, checkValues } from '../contenders/support/article-values.js';
import { CONNECTIONS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { checkLineChanges, checkOrder } from './order-http.js';
import { Line, Order } from './order-models.js';
import { LINES } from './orders.js';
import { BATCH, KEYS } from './versioned-articles.js';

// The package has another name here, under which it has no types.
const framework = require('express4') as typeof express;

@Table({ tableName: 'articles', version: true })
class Article extends ArticleColumns {
  declare version: number;
}

@Table({ tableName: KEYS, timestamps: false })
class RequestKey extends Model {
  @PrimaryKey
  @Column(DataType.TEXT)
  declare scope: string;

  @PrimaryKey
  @Column(DataType.TEXT)
  declare key: string;

  @Column(DataType.TEXT)
  declare fingerprint: string;

  @Column(DataType.SMALLINT)
  declare status: number;

  @Column(DataType.TEXT)
  declare answer: string;
}

const SCOPE = 'bench POST /articles';
const { port, databaseUrl } = readEnvironment();
const sequelize = new Sequelize(databaseUrl, {
  dialect: 'postgres',
  logging: false,
  pool: { max: CONNECTIONS },
  models: [Article, RequestKey, Order, Line],
});
/** A record that a request names is not there. */
class Missing extends Error {
  readonly status = 404;
}

class TooMany extends Error {
  /** As Express has it. */
  readonly status = 409;
}

const app = framework();
app.use(framework.json());

app.get(
  '/articles/:id',
  caught(async ({ params }, response) => sendFound(response, await Article.findByPk(Number(params['id'])))),
);

app.post(
  '/articles',
  caught(async (request, response) => {
    const { body } = request;
    if (Array.isArray(body)) return createMany(body, response);
    const values = checkValues(body);
    if (!values) return response.status(422).json({ error: 'Bad body' });
    const key = request.get('idempotency-key');
    if (key !== undefined) return createWithKey({ ...values }, key, response);
    return response.status(201).json(await Article.create({ ...values }));
  }),
);

app.patch(
  '/articles',
  caught(async ({ query, body }, response) => {
    const changes = checkChanges(body);
    if (!changes) return response.status(422).json({ error: 'Bad body' });
    const where = { id: { [Op.gte]: Number(query['from']), [Op.lt]: Number(query['to']) } };
    const affected = await sequelize.transaction(async (transaction) => {
      // It counts the versions of instances only.
      const version = sequelize.literal('version + 1');
      const [count] = await Article.update({ ...changes, version }, { where, transaction });
      if (count > BATCH) throw new TooMany();
      return count;
    });
    return response.json({ affected });
  }),
);

app.patch(
  '/articles/:id',
  caught(async (request, response) => {
    const changes = checkChanges(request.body);
    if (!changes) return response.status(422).json({ error: 'Bad body' });
    const article = await Article.findByPk(Number(request.params['id']));
    const tag = request.get('if-match');
    if (article && tag !== undefined && tag !== `"${article.version}"`) {
      return response.status(412).set('ETag', `"${article.version}"`).json({ error: 'Changed' });
    }
    return sendFound(response, article && (await article.update(changes)));
  }),
);

app.post(
  '/orders',
  caught(async ({ body }, response) => {
    const order = checkOrder(body);
    if (!order) return response.status(422).json({ error: 'Bad body' });
    const answer = await sequelize.transaction(async (transaction) => {
      const { id, customer, version } = await Order.create({ customer: order.customer }, { transaction });
      const items: Line[] = [];
      for (const line of order.lines)
        items.push(await Line.create({ ...line, orderId: id }, { transaction }));
      return { id, customer, version, lines: { items, has_next: false } };
    });
    return response.status(201).json(answer);
  }),
);

app.patch(
  '/orders/:id',
  caught(async ({ params, body }, response) => {
    const changes = checkLineChanges(body);
    if (!changes) return response.status(422).json({ error: 'Bad body' });
    const orderId = Number(params['id']);
    const answer = await sequelize.transaction(async (transaction) => {
      const order = await Order.findByPk(orderId, { transaction, lock: true, rejectOnEmpty: new Missing() });
      await order.increment('version', { transaction });
      const find = (id: number) =>
        Line.findOne({ where: { id, orderId }, transaction, rejectOnEmpty: new Missing() });
      for (const id of changes.delete) await (await find(id)).destroy({ transaction });
      for (const { id, qty } of changes.update) await (await find(id)).update({ qty }, { transaction });
      for (const line of changes.create) await Line.create({ ...line, orderId }, { transaction });
      const items = await Line.findAll({ where: { orderId }, order: ['id'], limit: LINES, transaction });
      await order.reload({ transaction });
      return { ...order.get(), lines: { items, has_next: false } };
    });
    return response.json(answer);
  }),
);

app.listen(port, HOST);

async function createMany(body: readonly unknown[], response: Response): Promise<unknown> {
  const all = body.map(checkValues);
  if (all.length > BATCH || all.includes(null)) return response.status(422).json({ error: 'Bad body' });
  return response.status(201).json({ items: await Article.bulkCreate(all.map((each) => ({ ...each }))) });
}

async function createWithKey(
  values: { readonly [name: string]: unknown },
  key: string,
  response: Response,
): Promise<unknown> {
  const fingerprint = hash('sha256', JSON.stringify(values), 'base64');
  try {
    const answer = await sequelize.transaction(async (transaction) => {
      const text = JSON.stringify(await Article.create(values, { transaction }));
      await RequestKey.create({ scope: SCOPE, key, fingerprint, status: 201, answer: text }, { transaction });
      return text;
    });
    return response.status(201).type('json').send(answer);
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error;
    const kept = await RequestKey.findOne({ where: { scope: SCOPE, key }, rejectOnEmpty: true });
    if (kept.fingerprint !== fingerprint) return response.status(422).json({ error: 'Another request' });
    return response.status(201).set('Idempotent-Replayed', 'true').type('json').send(kept.answer);
  }
}

function sendFound(response: Response, article: Article | null): Response {
  if (!article) return response.status(404).json({ error: 'Not Found' });
  return response.set('ETag', `"${article.version}"`).json(article);
}

/** Express 4 does not catch what a promise rejects with. */
function caught(handler: (request: Request, response: Response) => Promise<unknown>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    handler(request, response).catch(next);
  };
}
