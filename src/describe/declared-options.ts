/** Options of `@Crud` on a model. */
import { crudRecords } from '../declare/crud.js';
import type { CrudOptions, ModelClass } from '../declare/crud-options.js';
import { ownModel } from './record.js';

/** The options of its `@Crud`, also for the model with another scope; undefined where it has none. */
export function declaredOptions(model: ModelClass): CrudOptions | undefined {
  const own = ownModel(model);
  return crudRecords().findLast((record) => record.model === own)?.options;
}
