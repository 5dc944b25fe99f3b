/** The SQL of the hand-written contenders. Every statement has a name, so that PostgreSQL parses and plans it once. */
import { type ArticleValues, VALUE_NAMES } from './article-values.js';

/** A named statement, in the form that `pg` takes. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** A page of the list: rows behind an id, of a category, or both. One row more than `size` shows that there is a next page. */
export interface PageQuery {
  readonly after: number | null;
  readonly category: string | null;
  readonly size: number;
}

/** A row as `pg` returns it. */
export interface ArticleRow extends ArticleValues {
  readonly id: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of an answer, in their order. */
export const COLUMNS = ['id', ...VALUE_NAMES, 'createdAt', 'updatedAt'].map((name) => `"${name}"`).join(', ');

/** The one tenant that the rows of the scoped contenders are of. */
export const TENANT = 1;

let tenant: number | null = null;

/** Limits later statements to the rows of one tenant. */
export function scopeStatements(value: number): void {
  tenant = value;
}

/** A condition of the tenant's, with its value added to the others. */
function ofTenant(values: unknown[]): string[] {
  return tenant === null ? [] : [`tenant = $${values.push(tenant)}`];
}

export function countStatement(): Statement {
  const values: unknown[] = [];
  const where = whereOf(ofTenant(values));
  return { name: 'count', text: `SELECT count(*)::int AS total FROM articles${where}`, values };
}

export function readStatement(id: number): Statement {
  const values: unknown[] = [id];
  const where = whereOf(['id = $1', ...ofTenant(values)]);
  return { name: 'read', text: `SELECT ${COLUMNS} FROM articles${where}`, values };
}

export function pageStatement({ after, category, size }: PageQuery): Statement {
  const values: unknown[] = [size + 1];
  const conditions: string[] = [];
  if (after !== null) conditions.push(`id > $${values.push(after)}`);
  if (category !== null) conditions.push(`category = $${values.push(category)}`);
  const where = whereOf([...conditions, ...ofTenant(values)]);
  return {
    name: `page${after === null ? '' : '-after'}${category === null ? '' : '-category'}`,
    text: `SELECT ${COLUMNS} FROM articles${where} ORDER BY id LIMIT $1`,
    values,
  };
}

export function insertStatement(article: ArticleValues): Statement {
  const values: unknown[] = VALUE_NAMES.map((name) => article[name]);
  const columns = [...VALUE_NAMES, ...(tenant === null ? [] : ['tenant'])];
  if (tenant !== null) values.push(tenant);
  const parameters = values.map((_, index) => `$${index + 1}`).join(', ');
  const text =
    `INSERT INTO articles (${columns.join(', ')}, "createdAt", "updatedAt") ` +
    `VALUES (${parameters}, now(), now()) RETURNING ${COLUMNS}`;
  return { name: 'insert', text, values };
}

export function updateStatement(id: number, changes: Partial<ArticleValues>): Statement {
  const names = VALUE_NAMES.filter((name) => changes[name] !== undefined);
  const assignments = names.map((name, index) => `${name} = $${index + 2}, `).join('');
  const values: unknown[] = [id, ...names.map((name) => changes[name])];
  const where = whereOf(['id = $1', ...ofTenant(values)]);
  return {
    name: `update-${names.join('-')}`,
    text: `UPDATE articles SET ${assignments}"updatedAt" = now()${where} RETURNING ${COLUMNS}`,
    values,
  };
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
}
