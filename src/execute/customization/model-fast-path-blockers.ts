/**
 * Parts of a model that only Sequelize's own queries and instances use: getters, scopes, validations and whatever
 * else a user plugged in. Fast statements would pass them by.
 */
import { baseOf, type Endpoint } from '../../declare/endpoint.js';
import type { ColumnType } from '../../describe/column-type.js';
import { hasScope, queryHooks } from '../../describe/hooks-and-scopes-internals.js';
import {
  type AttributeInfo,
  customAttributes,
  type ModelInfo,
  timestampsOf,
} from '../../describe/model-info.js';
import { hasJsonForm } from '../../describe/record.js';
import { keyText } from '../../describe/row-key.js';
import { hookedCascades, instanceOptions } from '../../describe/sequelize-internals.js';
import { hasOtherTypes, isKeyTrusted } from '../../describe/table-facts.js';
import { hasInstanceFields, queryCustomizations } from './query-customizations.js';

/** Why an operation must go through Sequelize; none when it need not. */
export function modelFastPathBlockers(info: ModelInfo, operation: Endpoint, needsRecords: boolean): string[] {
  return [...classBlockers(info, operation, needsRecords), ...scopeReasons(info)];
}

/** The same, but for the scope of the moment. */
export function classBlockers(info: ModelInfo, operation: Endpoint, needsRecords: boolean): string[] {
  const isWrite = ['create', 'update', 'replace'].includes(baseOf(operation));
  return [
    ...queryCustomizations(info.model),
    ...softDeleteReasons(info),
    ...(baseOf(operation) !== 'delete' && needsRecords ? recordReasons(info) : []),
    ...(isWrite ? writeReasons(info) : []),
    ...(operation === 'update' || baseOf(operation) === 'replace' ? changeReasons(info) : []),
    ...(operation === 'purge' || (operation === 'delete' && !info.softDelete) ? cascadeReasons(info) : []),
  ];
}

/** Reasons of this moment. Hooks and a scope are read at each request, because code can add them at any time; the table is as it was read last. */
export function presentModelBlockers(info: ModelInfo, operation: Endpoint): string[] {
  return [
    ...scopeReasons(info),
    ...queryHooks(info.model, kindOf(operation)),
    ...tableBlockers(info, operation),
  ];
}

/** The same of its table, as far as the catalogue was read. */
export function tableBlockers(info: ModelInfo, operation: Endpoint): string[] {
  // A write by key of several rows is to be undone.
  const needsKey = kindOf(operation) === 'write' && baseOf(operation) !== 'create';
  return [
    ...(hasOtherTypes(info.model) ? ['a column has another type than its attribute'] : []),
    ...(needsKey && isKeyTrusted(info)
      ? [`no unique key of the table is ${keyText(info.address)}, so that a write may find several rows`]
      : []),
  ];
}

/** Hooks that an operation would run. */
export function kindOf(operation: Endpoint): 'read' | 'write' {
  return operation === 'list' || operation === 'read' ? 'read' : 'write';
}

function scopeReasons({ model }: ModelInfo): string[] {
  return hasScope(model) ? ['the model has a default scope'] : [];
}

function cascadeReasons({ model }: ModelInfo): string[] {
  return hookedCascades(model).map((name) => `the hooks of ${name} run when a record is deleted`);
}

/** A soft delete marks rows otherwise than by a moment. */
function softDeleteReasons(info: ModelInfo): string[] {
  const { attribute, values } = info.softDelete ?? { values: null };
  if (attribute === undefined || values || isPlainTimestamp(info, attribute)) return [];
  return [`${attribute} is not a plain timestamp`];
}

/** True where answers hold values that only a record computes: by a getter, a virtual attribute, or `toJSON`. */
export function needsRecords(info: ModelInfo, readable: readonly AttributeInfo[]): boolean {
  const isVirtual = readable.some(({ type }) => type.kind === 'virtual');
  return isVirtual || hasJsonForm(info.model) || gettersOf(info, readable).length > 0;
}

/** The attributes whose value is computed by code of the user's. */
export function gettersOf({ model }: ModelInfo, readable: readonly AttributeInfo[]): string[] {
  const getters = customAttributes(model, 'get');
  return readable.filter(({ name }) => getters.has(name)).map(({ name }) => name);
}

/** Why a record cannot be made without Sequelize. */
function recordReasons({ model }: ModelInfo): string[] {
  return hasInstanceFields(model) ? ['the model has getters, and fields that its constructor sets'] : [];
}

function writeReasons(info: ModelInfo): string[] {
  const { model } = info;
  const setters = [...customAttributes(model, 'set')];
  const attributes = Object.entries(model.getAttributes());
  const rules = attributes.flatMap(([name, { validate }]) => (hasRules(validate) ? [name] : []));
  const { createdAt, updatedAt } = timestampsOf(model);
  const ownTimestamps = [createdAt, updatedAt].filter(
    (name) => name !== undefined && !isPlainTimestamp(info, name),
  );
  return [
    ...setters.map((name) => `${name} has a setter`),
    ...rules.map((name) => `${name} has validation rules of Sequelize`),
    ...(hasRules(model.options.validate) ? ['the model has validation rules of Sequelize'] : []),
    ...(model.sequelize && instanceOptions(model.sequelize).typeValidation
      ? ["Sequelize's option typeValidation is set"]
      : []),
    ...ownTimestamps.map((name) => `${name} is not a plain timestamp`),
    ...[...info.attributes.values()]
      .filter(({ type }) => isForeign(type))
      .map(({ name }) => `${name} is of a type that only Sequelize writes`),
  ];
}

/** Reasons of types whose values PostgreSQL compares otherwise than Sequelize, which writes only values that differ. */
function changeReasons({ model }: ModelInfo): string[] {
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => (type as { readonly key?: string }).key === 'JSON')
    .map(([name]) => `${name} is of a type that only Sequelize compares`);
}

/** `validate: {}` is no rule. */
function hasRules(rules: unknown): boolean {
  return typeof rules === 'object' && rules !== null && Object.keys(rules).length > 0;
}

function isPlainTimestamp({ attributes, model }: ModelInfo, name: string): boolean {
  const isDate = attributes.get(name)?.type.kind === 'date';
  return isDate && model.getAttributes()[name]?.defaultValue === undefined;
}

const FOREIGN: ReadonlySet<ColumnType['kind']> = new Set([
  'range',
  'multirange',
  'network',
  'interval',
  'money',
  'bit',
  'named',
  'hstore',
  'other',
]);

/** Types whose values only Sequelize can write or compare. */
function isForeign(type: ColumnType): boolean {
  if (type.kind === 'array') return type.element.kind === 'json' || isForeign(type.element);
  return FOREIGN.has(type.kind);
}
