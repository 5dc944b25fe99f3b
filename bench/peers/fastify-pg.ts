/** Fastify 5 and `pg` with named statements; bodies are checked and answers written by its JSON schemas. */
import fastify from 'fastify';
import { Pool } from 'pg';
import { CONNECTIONS, DATABASE_URL, HOST, PORT } from './environment.js';

interface Article {
  readonly id: number;
  readonly [name: string]: unknown;
}

interface ListQuery {
  readonly size: number;
  readonly after?: number;
  readonly category?: string;
  readonly total?: boolean;
}

const WRITABLE = {
  title: { type: 'string', maxLength: 120 },
  body: { type: 'string', maxLength: 10_000 },
  category: { type: 'string', maxLength: 40 },
  author: { type: 'string', maxLength: 80, nullable: true },
  price: { type: 'number' },
  stock: { type: 'integer' },
  active: { type: 'boolean' },
} as const;
const NAMES = Object.keys(WRITABLE);
const COLUMNS = ['id', ...NAMES, 'createdAt', 'updatedAt'].map((name) => `"${name}"`).join(', ');

const DATE = { type: 'string', format: 'date-time' } as const;
const article = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...WRITABLE, createdAt: DATE, updatedAt: DATE },
} as const;
const error = { type: 'object', properties: { error: { type: 'string' } } } as const;
const params = { type: 'object', properties: { id: { type: 'integer' } } } as const;
const querystring = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 1_000, default: 20 },
    after: { type: 'integer' },
    category: { type: 'string' },
    total: { type: 'boolean' },
  },
} as const;
const page = {
  type: 'object',
  properties: {
    items: { type: 'array', items: article },
    next: { type: 'integer', nullable: true },
    total: { type: 'integer' },
  },
} as const;
const changes = { type: 'object', additionalProperties: false, properties: WRITABLE } as const;
const values = { ...changes, required: NAMES.filter((name) => name !== 'author') } as const;

const pool = new Pool({ connectionString: DATABASE_URL, max: CONNECTIONS });
const app = fastify();

app.get<{ Params: { id: number } }>(
  '/articles/:id',
  { schema: { params, response: { 200: article, 404: error } } },
  async ({ params: { id } }, reply) => {
    const text = `SELECT ${COLUMNS} FROM articles WHERE id = $1`;
    const { rows } = await pool.query<Article>({ name: 'read', text, values: [id] });
    return rows[0] ?? reply.code(404).send({ error: 'Not Found' });
  },
);

app.get<{ Querystring: ListQuery }>(
  '/articles',
  { schema: { querystring, response: { 200: page } } },
  async ({ query }) => {
    const [rows, total] = await Promise.all([findPage(query), query.total ? count() : undefined]);
    const items = rows.slice(0, query.size);
    return { items, next: rows.length > items.length ? items.at(-1)?.id : null, total };
  },
);

app.post<{ Body: Record<string, unknown> }>(
  '/articles',
  { schema: { body: values, response: { 201: article } } },
  async ({ body }, reply) => {
    const places = NAMES.map((_, index) => `$${index + 1}`).join(', ');
    const text = `INSERT INTO articles (${NAMES.join(', ')}, "createdAt", "updatedAt") VALUES (${places}, now(), now()) RETURNING ${COLUMNS}`;
    const { rows } = await pool.query<Article>({
      name: 'insert',
      text,
      values: NAMES.map((name) => body[name] ?? null),
    });
    return reply.code(201).send(rows[0]);
  },
);

app.patch<{ Params: { id: number }; Body: Record<string, unknown> }>(
  '/articles/:id',
  { schema: { params, body: changes, response: { 200: article, 404: error } } },
  async ({ params: { id }, body }, reply) => {
    const names = NAMES.filter((name) => body[name] !== undefined);
    const assignments = names.map((name, index) => `${name} = $${index + 2}, `).join('');
    const { rows } = await pool.query<Article>({
      name: `update-${names.join('-')}`,
      text: `UPDATE articles SET ${assignments}"updatedAt" = now() WHERE id = $1 RETURNING ${COLUMNS}`,
      values: [id, ...names.map((name) => body[name])],
    });
    return rows[0] ?? reply.code(404).send({ error: 'Not Found' });
  },
);

async function findPage({ size, after, category }: ListQuery): Promise<Article[]> {
  const limits: unknown[] = [size + 1];
  const conditions: string[] = [];
  if (after !== undefined) conditions.push(`id > $${limits.push(after)}`);
  if (category !== undefined) conditions.push(`category = $${limits.push(category)}`);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const { rows } = await pool.query<Article>({
    name: `page${after === undefined ? '' : '-after'}${category === undefined ? '' : '-category'}`,
    text: `SELECT ${COLUMNS} FROM articles ${where} ORDER BY id LIMIT $1`,
    values: limits,
  });
  return rows;
}

async function count(): Promise<number | undefined> {
  const text = 'SELECT count(*)::int AS total FROM articles';
  const { rows } = await pool.query<{ total: number }>({ name: 'count', text });
  return rows[0]?.total;
}

void app.listen({ port: PORT, host: HOST });
