/** Models that nobody has given to a database yet, described without one: Sequelize needs no connection for that. */
import { Model } from 'sequelize';
import { type ModelCtor, Sequelize } from 'sequelize-typescript';
import type { ModelClass } from '../metadata/crud-options.js';
import { isAttached } from './introspect-model.js';

/** Whether a value is a model class. */
export function isModelClass(value: unknown): value is ModelClass {
  return typeof value === 'function' && value.prototype instanceof Model;
}

/** Gives those of the models that have no Sequelize instance one that never connects. */
export function attachOffline(models: readonly ModelClass[]): void {
  const loose = [...new Set(models)].filter((model) => !isAttached(model));
  if (loose.length === 0) return;
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  sequelize.addModels(loose as unknown as ModelCtor[]);
}
