/** Facts of a model's attributes beyond their columns: notes, getters and setters of the user's, and their purpose. */
import type { ModelClass } from '../declare/crud-options.js';
import type { ModelInfo } from './model-info.js';

/** True where a getter returns the attribute's value. */
export function hasGetter(model: ModelClass, name: string): boolean {
  return model.getAttributes()[name]?.get !== undefined;
}

/** The attributes whose value is read, or written, by code of the user's. */
export function customAttributes(model: ModelClass, kind: 'get' | 'set'): ReadonlySet<string> {
  const { getterMethods, setterMethods } = model.options;
  const own = Object.entries(model.getAttributes()).filter(([, attribute]) => attribute[kind] !== undefined);
  const methods = kind === 'get' ? getterMethods : setterMethods;
  return new Set([...Object.keys(methods ?? {}), ...own.map(([name]) => name)]);
}

/** True where the default scope selects only some of the attributes. */
export function hasPartialRecords({ options }: ModelClass): boolean {
  return options.defaultScope?.attributes !== undefined;
}

/** The moments that Sequelize writes by itself. */
const TIMESTAMPS = ['createdAt', 'updatedAt', 'deletedAt'] as const;

/** The attributes that a model has for its timestamps. */
export type Timestamps = Readonly<Partial<Record<(typeof TIMESTAMPS)[number], string>>>;

/** The attributes that a model has for its timestamps, as Sequelize tells them from the options. */
export function timestampsOf({ options }: ModelClass): Timestamps {
  if (!options.timestamps) return {};
  const kept = TIMESTAMPS.filter(
    (each) => options[each] !== false && (each !== 'deletedAt' || options.paranoid),
  );
  return Object.fromEntries(kept.map((each) => [each, nameOf(options[each], each)]));
}

/** The attribute that counts the changes of a row. */
export function versionOf({ options: { version } }: ModelClass): string | undefined {
  return version ? nameOf(version, 'version') : undefined;
}

/** The system column with the transaction that has written a row. */
export const XMIN = 'xmin';

function nameOf(option: string | boolean | undefined, name: string): string {
  return typeof option === 'string' ? option : name;
}

/** The attribute that says when a row was soft-deleted, if the model is paranoid. */
export function deletedAtOf({ model, paranoid }: Pick<ModelInfo, 'model' | 'paranoid'>): string | undefined {
  return paranoid ? timestampsOf(model).deletedAt : undefined;
}
