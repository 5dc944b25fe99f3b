/** Attributes by which rows of one table come into the way of each other: many of them are not written in any order. */
import { foreignKeysOf } from './foreign-keys.js';
import type { ModelInfo } from './model-info.js';
import { constrainedModel } from './sequelize-internals.js';

/** As far as the model says. */
export interface RivalAttributes {
  /** One row can have the value that another one gives up. */
  readonly unique: ReadonlySet<string>;
  /** They name rows of the same table. */
  readonly ownReferences: ReadonlySet<string>;
}

/** Finds those of a model. */
export function rivalAttributes({ model, attributes }: ModelInfo): RivalAttributes {
  const { _indexes = [], uniqueKeys = {} } = constrainedModel(model);
  const keys = [...Object.values(uniqueKeys), ..._indexes.filter(({ unique }) => unique)];
  const fields = new Set(keys.flatMap((key) => key.fields ?? []).map(fieldName));
  const table = JSON.stringify(model.getTableName());
  const isOwn = (target: typeof model) => JSON.stringify(target.getTableName()) === table;
  return {
    unique: new Set(
      [...attributes.values()].flatMap(({ name, column }) =>
        fields.has(name) || fields.has(column) || model.getAttributes()[name]?.unique ? name : [],
      ),
    ),
    ownReferences: new Set(
      foreignKeysOf(model).flatMap(({ attribute, target }) => (isOwn(target) ? attribute : [])),
    ),
  };
}

/** The column of an index, or the attribute; of an expression something that is neither. */
export function fieldName(field: unknown): string {
  return typeof field === 'string' ? field : String((field as { name?: unknown } | null)?.name);
}
