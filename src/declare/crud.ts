/** The `@Crud` decorator, and the append-only list of what it recorded: every reader sees the same. */
import type { Model } from 'sequelize';
import type { CrudOptions, ModelClass } from './crud-options.js';

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
    const record: CrudRecord = {
      model: model as unknown as ModelClass,
      // The registry holds options of many models side by side; each is checked against its own model later.
      options: Object.freeze({ ...options }) as unknown as CrudOptions,
    };
    storage().push(Object.freeze(record));
  };
}

/** One use of `@Crud`. */
export interface CrudRecord {
  readonly model: ModelClass;
  readonly options: CrudOptions;
}

// On globalThis, so that a second copy of the package in one process still finds the models of the first.
const REGISTRY = Symbol.for('crud-controllers:registry:v1');

function storage(): CrudRecord[] {
  const holder = globalThis as { [REGISTRY]?: CrudRecord[] };
  holder[REGISTRY] ??= [];
  return holder[REGISTRY];
}

/** Every record so far, in the order the classes were declared. */
export function crudRecords(): readonly CrudRecord[] {
  return [...storage()];
}
