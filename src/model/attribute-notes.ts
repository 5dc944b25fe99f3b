/** What a model says about its attributes beyond their columns: notes, and code of the user's that shapes them. */
import type { ModelAttributeColumnOptions } from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';
import type { ModelInfo } from './model-info.js';

/** Sequelize's own description of a model; some of it is not in its types. */
interface NotedModel {
  readonly rawAttributes: Readonly<Record<string, ModelAttributeColumnOptions | undefined>>;
  readonly options: { readonly defaultScope?: { readonly attributes?: unknown } };
}

const noted = (model: ModelClass): NotedModel => model as unknown as NotedModel;

/** The comment of the attribute's column, which is its description. */
export function attributeComment(model: ModelClass, name: string): string | undefined {
  return noted(model).rawAttributes[name]?.comment;
}

/** Whether a getter decides what the attribute's value is. */
export function hasGetter(model: ModelClass, name: string): boolean {
  return noted(model).rawAttributes[name]?.get !== undefined;
}

/** Whether records come with some of their attributes only, unless asked for more. */
export function hasPartialRecords(model: ModelClass): boolean {
  return noted(model).options.defaultScope?.attributes !== undefined;
}

/** The names that a model gives to its timestamps; Sequelize does not type them. */
export function timestampsOf(
  model: ModelClass,
): Readonly<Partial<Record<'createdAt' | 'updatedAt' | 'deletedAt', string>>> {
  return (
    (model as unknown as { readonly _timestampAttributes?: Record<string, string> })._timestampAttributes ??
    {}
  );
}

/** The attribute that says when a row was soft-deleted, if the model is paranoid. */
export function deletedAtOf({ model, paranoid }: Pick<ModelInfo, 'model' | 'paranoid'>): string | undefined {
  return paranoid ? timestampsOf(model).deletedAt : undefined;
}
