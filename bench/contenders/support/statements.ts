/** The SQL of the hand-written contenders. Every statement has a name, so that PostgreSQL parses and plans it once. */
import { type ArticleValues, VALUE_NAMES } from './article-values.js';

/** What `pg` takes. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** A page of the list: those behind an id, of a category, or both. One row more than `size` tells whether it goes on. */
export interface PageQuery {
  readonly after: number | null;
  readonly category: string | null;
  readonly size: number;
}

/** A row as `pg` gives it. */
export interface ArticleRow extends ArticleValues {
  readonly id: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of an answer, in their order. */
export const COLUMNS = ['id', ...VALUE_NAMES, 'createdAt', 'updatedAt'].map((name) => `"${name}"`).join(', ');

const READ = `SELECT ${COLUMNS} FROM articles WHERE id = $1`;
const INSERT =
  `INSERT INTO articles (${VALUE_NAMES.join(', ')}, "createdAt", "updatedAt") ` +
  `VALUES (${VALUE_NAMES.map((_, index) => `$${index + 1}`).join(', ')}, now(), now()) RETURNING ${COLUMNS}`;

/** Counts all of them. */
export const COUNT: Statement = {
  name: 'count',
  text: 'SELECT count(*)::int AS total FROM articles',
  values: [],
};

export function readStatement(id: number): Statement {
  return { name: 'read', text: READ, values: [id] };
}

export function pageStatement({ after, category, size }: PageQuery): Statement {
  const values: unknown[] = [size + 1];
  const conditions: string[] = [];
  if (after !== null) conditions.push(`id > $${values.push(after)}`);
  if (category !== null) conditions.push(`category = $${values.push(category)}`);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  return {
    name: `page${after === null ? '' : '-after'}${category === null ? '' : '-category'}`,
    text: `SELECT ${COLUMNS} FROM articles ${where} ORDER BY id LIMIT $1`,
    values,
  };
}

export function insertStatement(values: ArticleValues): Statement {
  return { name: 'insert', text: INSERT, values: VALUE_NAMES.map((name) => values[name]) };
}

export function updateStatement(id: number, changes: Partial<ArticleValues>): Statement {
  const names = VALUE_NAMES.filter((name) => changes[name] !== undefined);
  const assignments = names.map((name, index) => `${name} = $${index + 2}, `).join('');
  return {
    name: `update-${names.join('-')}`,
    text: `UPDATE articles SET ${assignments}"updatedAt" = now() WHERE id = $1 RETURNING ${COLUMNS}`,
    values: [id, ...names.map((name) => changes[name])],
  };
}
