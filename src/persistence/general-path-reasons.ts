/**
 * What of a model only Sequelize's own queries and instances know: getters, scopes, validations and whatever else a user
 * plugged in. Fast statements would pass it by.
 */
import { type ModelAttributeColumnOptions, Model as PlainModel } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { Operation } from '../metadata/crud-options.js';
import type { ColumnType } from '../model/column-type.js';
import type { AttributeInfo, ModelInfo } from '../model/model-info.js';
import { appliedScope } from './default-scope.js';
import { hasInstanceFields } from './light-record.js';
import { timestampsOf } from './table-sql.js';

/** Internals of a model that are not in its types. */
interface ModelInternals {
  readonly prototype: {
    readonly _customGetters?: Readonly<Record<string, unknown>>;
    readonly _customSetters?: Readonly<Record<string, unknown>>;
  };
  readonly rawAttributes: Readonly<Record<string, ModelAttributeColumnOptions>>;
  readonly options: { readonly validate?: object };
  readonly _versionAttribute?: string | false;
  readonly sequelize: {
    readonly constructor: { readonly _cls?: unknown };
    readonly options: {
      readonly query?: object;
      readonly searchPath?: unknown;
      readonly typeValidation?: boolean;
      readonly benchmark?: boolean;
      readonly logQueryParameters?: boolean;
      readonly dialectOptions?: { readonly binary?: boolean };
    };
  };
}

const BASES: ReadonlySet<unknown> = new Set([PlainModel, Model]);
/** What records are found, made and changed through; an override of any of them is the user's. */
const STATICS = [
  'findOne',
  'findAll',
  '_findAll',
  'count',
  'aggregate',
  'build',
  'bulkBuild',
  'create',
  'update',
  'destroy',
];
const METHODS = [
  'get',
  'set',
  'getDataValue',
  'setDataValue',
  'save',
  'update',
  'reload',
  'validate',
  'changed',
];

/** Why an operation must go through Sequelize; none when it need not. */
export function generalPathReasons(
  info: ModelInfo,
  operation: Operation,
  readable: readonly AttributeInfo[],
): string[] {
  const model = info.model as unknown as ModelInternals;
  const always = [...instanceReasons(model), ...overrideReasons(info), ...scopeReasons(info)];
  const reads = operation !== 'delete' && needsRecords(info, readable) ? recordReasons(info) : [];
  const writes = operation === 'create' || operation === 'update' ? writeReasons(info) : [];
  return [...always, ...reads, ...writes];
}

/** Settings of the Sequelize instance that change what a query does or tells. */
function instanceReasons({ sequelize }: ModelInternals): string[] {
  const { query, searchPath, benchmark, logQueryParameters, dialectOptions } = sequelize.options;
  const isSet = {
    useCLS: Boolean(sequelize.constructor._cls),
    query: Object.keys(query ?? {}).length > 0,
    searchPath: Boolean(searchPath),
    benchmark: Boolean(benchmark),
    logQueryParameters: Boolean(logQueryParameters),
    'dialectOptions.binary': Boolean(dialectOptions?.binary),
  };
  const names = Object.entries(isSet).flatMap(([name, is]) => (is ? [name] : []));
  return names.map((name) => `Sequelize's option ${name} is set`);
}

/** What the user's class, or one that it extends, has in the place of Sequelize's. */
function overrideReasons({ model }: ModelInfo): string[] {
  const found = lineageOf(model).flatMap((each) => [
    ...STATICS.filter((name) => Object.hasOwn(each, name)).map((name) => `static ${name}`),
    ...METHODS.filter((name) => Object.hasOwn(each.prototype, name)),
    // A class with initialized fields has one, too, once it is compiled.
    ...(/\bconstructor\s*\(/.test(Function.prototype.toString.call(each)) ? ['the constructor'] : []),
  ]);
  return [...new Set(found)].map((name) => `the model overrides ${name}`);
}

/** A class, as far as it is looked at. */
type AnyClass = abstract new () => object;

/** The model's class and those it extends, without Sequelize's. */
function lineageOf(model: object): AnyClass[] {
  const lineage: AnyClass[] = [];
  let each = model;
  while (typeof each === 'function' && each !== Function.prototype && !BASES.has(each)) {
    lineage.push(each as AnyClass);
    each = Object.getPrototypeOf(each);
  }
  return lineage;
}

function scopeReasons({ model }: ModelInfo): string[] {
  return Object.keys(appliedScope(model)).length > 0 ? ['the model has a default scope'] : [];
}

/** Whether answers hold what only a record can tell: the value of a getter, or of a virtual attribute. */
export function needsRecords({ model }: ModelInfo, readable: readonly AttributeInfo[]): boolean {
  const { _customGetters = {} } = (model as unknown as ModelInternals).prototype;
  return readable.some(({ name, type }) => type.kind === 'virtual' || Object.hasOwn(_customGetters, name));
}

/** Why a record cannot be made without Sequelize. */
function recordReasons(info: ModelInfo): string[] {
  return hasInstanceFields(info) ? ['the model has getters, and fields that its constructor sets'] : [];
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
