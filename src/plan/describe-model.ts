/** A model's description for those who work without a plan. */
import type { ModelClass } from '../metadata/crud-options.js';
import { introspectModel } from '../model/introspect-model.js';
import type { ModelInfo } from '../model/model-info.js';
import { ConfigError } from './config-error.js';

/**
 * Describes a model.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function describeModel(model: ModelClass): ModelInfo {
  const { info, problems } = introspectModel(model);
  if (!info) throw new ConfigError(problems);
  return info;
}
