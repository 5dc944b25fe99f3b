/** A model's description for those who work without a plan. */
import type { ModelClass } from '../declare/crud-options.js';
import { type Introspection, introspectAttributes, introspectModel } from '../describe/introspect-model.js';
import type { ModelInfo, RecordInfo } from '../describe/model-info.js';
import { attributesVersion } from '../describe/sequelize-internals.js';
import { ConfigError } from '../util/config-error.js';

/** Memoizes what is made of a model, until the model gets attributes anew. A value without a model's attributes is not kept. */
export function perModel<T>(make: (model: ModelClass) => T): (model: ModelClass) => T {
  const known = new WeakMap<ModelClass, { readonly attributes: object; readonly value: T }>();
  return (model) => {
    const attributes = attributesVersion(model);
    const made = known.get(model);
    if (made && made.attributes === attributes) return made.value;
    const value = make(model);
    if (attributes) known.set(model, { attributes, value });
    return value;
  };
}

/**
 * Describes a model.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function describeModel(model: ModelClass): ModelInfo {
  const { info, problems } = tryDescribeModel(model);
  if (!info) throw new ConfigError(problems);
  return info;
}

/** The same, or everything that is wrong with the model. */
export function tryDescribeModel(model: ModelClass): Introspection {
  const info = described(model);
  return info ? { info, problems: [] } : introspectModel(model);
}

/** A query introspects none of it again: that makes a record, to see what its class hides. */
const described = perModel((model) => introspectModel(model).info);

/**
 * Describes a model as far as its rows have values: one that joins two others has no single primary key.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance
 */
export function describeRecords(model: ModelClass): RecordInfo {
  if (!model.sequelize || model.primaryKeyAttributes.length === 1) return describeModel(model);
  return keyless(model);
}

const keyless = perModel(
  (model): RecordInfo => Object.freeze({ model, name: model.name, attributes: introspectAttributes(model) }),
);
