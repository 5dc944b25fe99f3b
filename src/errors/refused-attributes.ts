/**
 * The attributes that a database error is about, found by the names of constraints and columns. PostgreSQL's `detail`
 * names them too, but holds values and cannot be parsed reliably: a value with a comma shifts everything after it.
 */

import type { ModelClass } from '../declare/crud-options.js';
import { cutName, MAX_BYTES } from '../describe/describe-model.js';
import { fieldName } from '../describe/foreign-keys.js';
import type { ModelInfo } from '../describe/model-info.js';
import { isModel } from '../describe/record.js';
import { keyNames } from '../describe/row-key.js';
import { constrainedModel } from '../describe/sequelize-internals.js';
import { tableFacts } from '../describe/table-facts.js';
import type { DatabaseFault } from './database-fault.js';

/** Models of writes that code of the user's has made, by their errors. */
const WRITTEN = new WeakMap<object, ModelClass>();

/** Throws the error of a write of a model, which is remembered. */
export function throwOf(model: unknown): (error: unknown) => never {
  return (error) => {
    if (typeof error === 'object' && error !== null && isModel(model)) WRITTEN.set(error, model);
    throw error;
  };
}

/** The model whose values an error is about, as far as the repository or Sequelize has named it. */
export function writtenModel(error: unknown): ModelClass | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errors } = error as { readonly errors?: readonly { readonly instance?: object | null }[] };
  const model: unknown = Array.isArray(errors) ? errors[0]?.instance?.constructor : undefined;
  return WRITTEN.get(error) ?? (isModel(model) ? model : undefined);
}

/** The attributes that a refused write is about; empty where the names are unknown, or of another table. */
export function refusedAttributes(
  info: ModelInfo,
  { constraint, table, column }: DatabaseFault,
): readonly string[] {
  const { tableName } = constrainedModel(info.model);
  const facts = tableFacts(info.model);
  if (table !== null && table !== cutName(tableName) && !facts?.partitions.has(table)) return [];
  const byColumn = attributesOf(info, column === null ? [] : [column]);
  if (byColumn.length > 0 || constraint === null) return byColumn;
  const columns = facts?.constraints.get(constraint);
  return columns ? attributesOf(info, columns) : (constraintAttributes(info).get(constraint) ?? []);
}

/** Constraint names -> attributes, as Sequelize and PostgreSQL name the constraints of a model: for those that the catalogue does not have. */
function constraintAttributes(info: ModelInfo): ReadonlyMap<string, readonly string[]> {
  const { tableName, _indexes = [], uniqueKeys = {} } = constrainedModel(info.model);
  const names = new Map<string, readonly string[]>();
  for (const { column, name } of info.attributes.values()) {
    for (const suffix of ['key', 'fkey', 'check']) names.set(objectName(tableName, column, suffix), [name]);
  }
  names.set(objectName(tableName, null, 'pkey'), keyNames(info.primaryKey));
  for (const [name, { fields }] of Object.entries(uniqueKeys)) {
    names.set(cutName(name), attributesOf(info, fields));
    names.set(objectName(tableName, fields.join('_'), 'key'), attributesOf(info, fields));
  }
  for (const { name, fields = [] } of _indexes) {
    if (name) names.set(cutName(name), attributesOf(info, fields.map(fieldName)));
  }
  return names;
}

/** Names are those of columns; only an index may name an attribute, whose name can be that of another one's column. */
function attributesOf(info: ModelInfo, given: readonly string[]): string[] {
  const names = [...given, ...given.map((name) => cutName(name))];
  const attributes = [...info.attributes.values()];
  const columns = new Set(attributes.map(({ column }) => column));
  return attributes
    .filter(({ column, name }) => names.includes(column) || (names.includes(name) && !columns.has(name)))
    .map(({ name }) => name);
}

/** The name that PostgreSQL makes of a table, columns and a kind, as `makeObjectName` does: the longer one is cut first. */
export function objectName(table: string, columns: string | null, kind: string): string {
  const [first, second] = [table, columns ?? ''].map((each) => Buffer.byteLength(cutName(each)));
  let [ofTable, ofColumns] = [first ?? 0, second ?? 0];
  const most = MAX_BYTES - Buffer.byteLength(kind) - 1 - (columns === null ? 0 : 1);
  while (ofTable + ofColumns > most) {
    if (ofTable > ofColumns) ofTable -= 1;
    else ofColumns -= 1;
  }
  const parts = [cutName(table, ofTable), ...(columns === null ? [] : [cutName(columns, ofColumns)]), kind];
  return parts.join('_');
}
