/** The name of a model's table in SQL. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';

/** The table with its schema, quoted as Sequelize does. The model must be attached to an instance. */
export function quotedTable<M extends Model>(model: ModelClass<M>): string {
  return quote(model, model.getTableName());
}

/** Another table in the schema of a model's. */
export function tableBeside(model: ModelClass, tableName: string): string {
  const own: unknown = model.getTableName();
  return quote(model, typeof own === 'object' ? { ...own, tableName } : tableName);
}

function quote<M extends Model>({ sequelize }: ModelClass<M>, name: unknown): string {
  const generator = sequelize?.getQueryInterface().queryGenerator as { quoteTable(name: unknown): string };
  return generator.quoteTable(name);
}
