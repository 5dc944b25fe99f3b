/** The SQL of those that write by hand: one statement for each request, with a name. */
import { type ArticleValues, VALUE_NAMES } from '../contenders/support/article-values.js';
import type { Statement } from '../contenders/support/statements.js';
import { BATCH, COLUMNS, KEYS } from './versioned-articles.js';
import type { Change } from './write-wires.js';

const TYPES: Readonly<Record<keyof ArticleValues, string>> = {
  title: 'text',
  body: 'text',
  category: 'text',
  author: 'text',
  price: 'float8',
  stock: 'integer',
  active: 'boolean',
};

const NAMES = VALUE_NAMES.join(', ');
const INSERT_ONE =
  `INSERT INTO articles (${NAMES}, "createdAt", "updatedAt") ` +
  `VALUES (${VALUE_NAMES.map((_, index) => `$${index + 1}`).join(', ')}, now(), now()) RETURNING ${COLUMNS}`;
const INSERT_MANY =
  `INSERT INTO articles (${NAMES}, "createdAt", "updatedAt") SELECT ${NAMES}, now(), now() ` +
  `FROM unnest(${VALUE_NAMES.map((name, index) => `$${index + 1}::${TYPES[name]}[]`).join(', ')}) ` +
  `WITH ORDINALITY AS t(${NAMES}, n) ORDER BY n RETURNING ${COLUMNS}`;
/** The answer is kept as texts, of which a replay is made as the first answer is. */
const INSERT_WITH_KEY =
  `WITH made AS (${INSERT_ONE}), kept AS (INSERT INTO ${KEYS} (scope, key, fingerprint, status, answer) ` +
  `SELECT $8, $9, $10, 201, to_json(ARRAY[${COLUMNS.replaceAll(', ', '::text, ')}::text]) FROM made) SELECT * FROM made`;

export function insertOne(article: ArticleValues): Statement {
  return { name: 'insert-one', text: INSERT_ONE, values: valuesOf(article) };
}

/** The identity of a request: the scope of its key, the key, and a hash of the request. */
export type RequestKey = readonly [scope: string, key: string, fingerprint: string];

export function insertWithKey(article: ArticleValues, key: RequestKey): Statement {
  return { name: 'insert-with-key', text: INSERT_WITH_KEY, values: [...valuesOf(article), ...key] };
}

export function readKey([scope, key]: RequestKey): Statement {
  const text = `SELECT fingerprint, answer FROM ${KEYS} WHERE scope = $1 AND key = $2`;
  return { name: 'read-key', text, values: [scope, key] };
}

export function insertMany(articles: readonly ArticleValues[]): Statement {
  const values = VALUE_NAMES.map((name) => arrayOf(articles.map((each) => each[name])));
  return { name: 'insert-many', text: INSERT_MANY, values };
}

export function readOne(id: number): Statement {
  return { name: 'read', text: `SELECT ${COLUMNS} FROM articles WHERE id = $1`, values: [id] };
}

/** @param version that the row has to have; null is any */
export function updateOne(id: number, changes: Partial<ArticleValues>, version: number | null): Statement {
  const names = namesOf(changes);
  const values: unknown[] = [id, ...names.map((name) => changes[name])];
  const condition = version === null ? '' : ` AND version = $${values.push(version)}`;
  return {
    name: `update-${names.join('-')}${condition && '-if'}`,
    text: `UPDATE articles SET ${names.map((name, index) => `${name} = $${index + 2}, `).join('')}version = version + 1, "updatedAt" = now() WHERE id = $1${condition} RETURNING ${COLUMNS}`,
    values,
  };
}

/** The columns of each row are those of the first change. The last column is the place of a change, from 1 on. */
export function updateMany(changes: readonly Change[]): Statement {
  const names = namesOf(changes[0] ?? {});
  const arrays = names.map((name, index) => `, $${index + 2}::${TYPES[name]}[]`).join('');
  const assignments = names.map((name) => `${name} = t.${name}, `).join('');
  const columns = COLUMNS.replaceAll(/[^, ]+/g, 'a.$&');
  return {
    name: `update-many-${names.join('-')}`,
    text:
      `UPDATE articles AS a SET ${assignments}version = a.version + 1, "updatedAt" = now() ` +
      `FROM unnest($1::integer[]${arrays}) WITH ORDINALITY AS t(id, ${names.join(', ')}, n) WHERE a.id = t.id RETURNING ${columns}, t.n`,
    values: [
      arrayOf(changes.map(({ id }) => id)),
      ...names.map((name) => arrayOf(changes.map((each) => each[name]))),
    ],
  };
}

/** Changes nothing where there are more rows than a batch. The result has their count. */
export function updateRange(from: number, to: number, changes: Partial<ArticleValues>): Statement {
  const names = namesOf(changes);
  const assignments = names.map((name, index) => `${name} = $${index + 3}, `).join('');
  return {
    name: `update-range-${names.join('-')}`,
    text:
      `WITH found AS MATERIALIZED (SELECT id FROM articles WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${BATCH + 1} FOR UPDATE), ` +
      `changed AS (UPDATE articles AS a SET ${assignments}version = a.version + 1, "updatedAt" = now() FROM found ` +
      `WHERE a.id = found.id AND (SELECT count(*) FROM found) <= ${BATCH} RETURNING a.id) SELECT count(*)::text FROM found`,
    values: [from, to, ...names.map((name) => changes[name])],
  };
}

function valuesOf(article: ArticleValues): unknown[] {
  return VALUE_NAMES.map((name) => article[name]);
}

function namesOf(changes: Partial<ArticleValues>): (keyof ArticleValues)[] {
  return VALUE_NAMES.filter((name) => changes[name] !== undefined);
}

/** As PostgreSQL writes arrays. */
function arrayOf(values: readonly (string | number | boolean | null | undefined)[]): string {
  let text = '';
  for (const value of values) {
    const item = typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value ?? 'NULL');
    text += text === '' ? item : `,${item}`;
  }
  return `{${text}}`;
}
