/** The name of a model's table in SQL. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';

/** The table with its schema, quoted as Sequelize does. The model must be attached to an instance. */
export function quotedTable<M extends Model>(model: ModelClass<M>): string {
  const generator = model.sequelize?.getQueryInterface().queryGenerator as {
    quoteTable(name: unknown): string;
  };
  return generator.quoteTable(model.getTableName());
}
