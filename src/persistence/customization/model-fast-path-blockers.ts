/**
 * What of a model only Sequelize's own queries and instances know: getters, scopes, validations and whatever else a user
 * plugged in. Fast statements would pass it by.
 */
import type { ModelAttributeColumnOptions } from 'sequelize';
import type { Endpoint } from '../../metadata/crud-options.js';
import { deletedAtOf, timestampsOf } from '../../model/attribute-notes.js';
import type { ColumnType } from '../../model/column-type.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { hasScope } from './default-scope.js';
import { hasInstanceFields } from './hydrate-record.js';
import { queryHooks } from './model-hooks.js';
import { queryCustomizations } from './query-customizations.js';

/** Internals of a model that are not in its types. */
interface ModelInternals {
  readonly prototype: {
    readonly _customGetters?: Readonly<Record<string, unknown>>;
    readonly _customSetters?: Readonly<Record<string, unknown>>;
  };
  readonly rawAttributes: Readonly<Record<string, ModelAttributeColumnOptions>>;
  readonly options: { readonly validate?: object };
  readonly _versionAttribute?: string | false;
  readonly sequelize: { readonly options: { readonly typeValidation?: boolean } };
}

/** Why an operation must go through Sequelize; none when it need not. */
export function modelFastPathBlockers(info: ModelInfo, operation: Endpoint, needsRecords: boolean): string[] {
  const always = [...queryCustomizations(info.model), ...scopeReasons(info), ...softDeleteReasons(info)];
  const isWrite = operation === 'create' || operation === 'update';
  const reads = operation !== 'delete' && needsRecords ? recordReasons(info) : [];
  const writes = isWrite ? [...shownReasons(needsRecords), ...writeReasons(info)] : [];
  const changes = operation === 'update' ? changeReasons(info) : [];
  return [...always, ...reads, ...writes, ...changes];
}

/** Why it must at this moment: hooks and a scope can be added at any time, and are asked for at each request. */
export function presentModelBlockers(info: ModelInfo, operation: Endpoint): string[] {
  const kind = operation === 'list' || operation === 'read' ? 'read' : 'write';
  return [...scopeReasons(info), ...queryHooks(info.model, kind)];
}

function scopeReasons({ model }: ModelInfo): string[] {
  return hasScope(model) ? ['the model has a default scope'] : [];
}

/** Rows count as deleted by another rule than that there is a moment at which they were. */
function softDeleteReasons(info: ModelInfo): string[] {
  const name = deletedAtOf(info);
  return name === undefined || isPlainTimestamp(info, name) ? [] : [`${name} is not a plain timestamp`];
}

/** Whether answers hold what only a record can tell: the value of a getter, or of a virtual attribute. */
export function needsRecords(info: ModelInfo, readable: readonly AttributeInfo[]): boolean {
  return readable.some(({ type }) => type.kind === 'virtual') || gettersOf(info, readable).length > 0;
}

/** The attributes whose value is told by code of the user's. */
export function gettersOf({ model }: ModelInfo, readable: readonly AttributeInfo[]): string[] {
  const { _customGetters = {} } = (model as unknown as ModelInternals).prototype;
  return readable.filter(({ name }) => Object.hasOwn(_customGetters, name)).map(({ name }) => name);
}

/** What may throw when the answer to a write is made; a fast write is committed then. */
function shownReasons(needsRecords: boolean): string[] {
  return needsRecords ? ["code of the user's shapes the answer"] : [];
}

/** Why a record cannot be made without Sequelize. */
function recordReasons({ model }: ModelInfo): string[] {
  return hasInstanceFields(model) ? ['the model has getters, and fields that its constructor sets'] : [];
}

function writeReasons(info: ModelInfo): string[] {
  const { prototype, rawAttributes, options, _versionAttribute, sequelize } =
    info.model as unknown as ModelInternals;
  const setters = Object.keys(prototype._customSetters ?? {});
  const rules = Object.keys(rawAttributes).filter((name) => hasRules(rawAttributes[name]?.validate));
  const { createdAt, updatedAt } = timestampsOf(info.model);
  const ownTimestamps = [createdAt, updatedAt].filter(
    (name) => name !== undefined && !isPlainTimestamp(info, name),
  );
  return [
    ...setters.map((name) => `${name} has a setter`),
    ...rules.map((name) => `${name} has validation rules of Sequelize`),
    ...(hasRules(options.validate) ? ['the model has validation rules of Sequelize'] : []),
    ...(_versionAttribute ? ['the model has a version'] : []),
    ...(sequelize.options.typeValidation ? ["Sequelize's option typeValidation is set"] : []),
    ...ownTimestamps.map((name) => `${name} is not a plain timestamp`),
    ...[...info.attributes.values()]
      .filter(({ type }) => isForeign(type))
      .map(({ name }) => `${name} is of a type that only Sequelize writes`),
  ];
}

/** What a row has of these types PostgreSQL does not compare as Sequelize does, which writes only what differs. */
function changeReasons({ model }: ModelInfo): string[] {
  const { rawAttributes } = model as unknown as ModelInternals;
  return Object.entries(rawAttributes)
    .filter(([, { type }]) => ['CHAR', 'JSON'].includes((type as { readonly key?: string }).key ?? ''))
    .map(([name]) => `${name} is of a type that only Sequelize compares`);
}

/** `validate: {}` is no rule. */
function hasRules(rules: unknown): boolean {
  return typeof rules === 'object' && rules !== null && Object.keys(rules).length > 0;
}

function isPlainTimestamp({ attributes, model }: ModelInfo, name: string): boolean {
  const { rawAttributes } = model as unknown as ModelInternals;
  return attributes.get(name)?.type.kind === 'date' && rawAttributes[name]?.defaultValue === undefined;
}

/** Types whose values only Sequelize can write or compare. */
function isForeign(type: ColumnType): boolean {
  if (type.kind === 'array') return type.element.kind === 'json' || isForeign(type.element);
  return type.kind === 'other';
}
