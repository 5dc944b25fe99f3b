/** The `@Crud` decorator. */
import type { Model } from 'sequelize';
import type { CrudOptions, ModelClass } from './crud-options.js';
import { recordCrud } from './registry.js';

/**
 * Marks a sequelize-typescript model as an HTTP resource. It only records; `bootstrap(app)` checks every option and
 * mounts the routes.
 *
 * @example
 * ```ts
 * @Crud<City>({ filterAllow: ['country', 'population'] })
 * @Table({ tableName: 'cities' })
 * class City extends Model {}
 * ```
 * @throws nothing; a wrong option is reported by `bootstrap` in one `ConfigError` with all others.
 */
export function Crud<M extends Model = Model>(options: CrudOptions<M> = {}) {
  return (model: ModelClass<M>): void => {
    recordCrud({
      model: model as unknown as ModelClass,
      // The registry holds options of many models side by side; each is checked against its own model later.
      options: Object.freeze({ ...options }) as unknown as CrudOptions,
    });
  };
}
