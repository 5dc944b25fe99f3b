/** The attributes in which a model keeps the moments of its writes. */
import type { ModelInfo } from './model-info.js';

/** The names that a model gives to its timestamps; Sequelize does not type them. */
export function timestampsOf(
  model: object,
): Readonly<Partial<Record<'createdAt' | 'updatedAt' | 'deletedAt', string>>> {
  return (model as { _timestampAttributes?: Record<string, string> })._timestampAttributes ?? {};
}

/** The attribute that says when a row was soft-deleted, if the model is paranoid. */
export function deletedAtOf({ model, paranoid }: Pick<ModelInfo, 'model' | 'paranoid'>): string | undefined {
  return paranoid ? timestampsOf(model).deletedAt : undefined;
}
