/** A model's description for those who work without a plan. */
import type { ModelClass } from '../declare/crud-options.js';
import { type Introspection, introspectAttributes, introspectModel } from '../describe/introspect-model.js';
import type { ModelInfo, RecordInfo } from '../describe/model-info.js';
import { attributesVersion } from '../describe/sequelize-internals.js';
import { ConfigError } from '../util/config-error.js';

/**
 * With what they were made from. A query looks at none of it again: the description makes a record, to see what its class
 * hides.
 */
const described = new WeakMap<ModelClass, Described<ModelInfo>>();

/** Descriptions of models without a single key. */
const keyless = new WeakMap<ModelClass, Described<RecordInfo>>();

interface Described<I> {
  readonly attributes: object;
  readonly info: I;
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
  const attributes = attributesVersion(model);
  const known = described.get(model);
  if (known && known.attributes === attributes) return { info: known.info, problems: [] };
  const found = introspectModel(model);
  if (attributes && found.info) described.set(model, { attributes, info: found.info });
  return found;
}

/**
 * Describes a model as far as its rows have values: one that joins two others has no single primary key.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance
 */
export function describeRecords(model: ModelClass): RecordInfo {
  if (!model.sequelize || model.primaryKeyAttributes.length === 1) return describeModel(model);
  const attributes = attributesVersion(model);
  const known = keyless.get(model);
  if (known && known.attributes === attributes) return known.info;
  const info = Object.freeze({ model, name: model.name, attributes: introspectAttributes(model) });
  if (attributes) keyless.set(model, { attributes, info });
  return info;
}
