/** What a model says about its attributes beyond their columns: notes, and code of the user's that shapes them. */
import type { ModelAttributeColumnOptions } from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';

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
