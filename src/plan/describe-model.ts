/** A model's description for those who work without a plan. */
import type { ModelClass } from '../metadata/crud-options.js';
import { introspectModel } from '../model/introspect-model.js';
import type { ModelInfo } from '../model/model-info.js';
import { attributesVersion } from '../model/sequelize-internals.js';
import { ConfigError } from '../util/config-error.js';

/**
 * With what they were made from. A query looks at none of it again: the description makes a record, to see what its class
 * hides.
 */
const described = new WeakMap<ModelClass, { readonly attributes: object; readonly info: ModelInfo }>();

/**
 * Describes a model.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function describeModel(model: ModelClass): ModelInfo {
  const attributes = attributesVersion(model);
  const known = described.get(model);
  if (known && known.attributes === attributes) return known.info;
  const { info, problems } = introspectModel(model);
  if (!info) throw new ConfigError(problems);
  if (attributes) described.set(model, { attributes, info });
  return info;
}
