/** What of a user's takes part in every query of a model: methods in the place of Sequelize's, and settings of its instance. */
import { isDeepStrictEqual } from 'node:util';
import { Model as PlainModel, Sequelize } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import { ambientTransactions, instanceOptions } from '../../model/sequelize-internals.js';
import { EngineSequelize } from '../session/engine-sequelize.js';
import { lineageOf, textOf } from './class-lineage.js';

/** Records are shown without it on either path. */
const UNUSED_METHODS: ReadonlySet<string> = new Set(['constructor', 'toJSON']);

/** What there is; nothing where queries are Sequelize's alone. */
export function queryCustomizations(model: ModelClass): string[] {
  const { sequelize } = model;
  return [...(sequelize ? instanceReasons(sequelize) : []), ...overrideReasons(model)];
}

/** Settings of the Sequelize instance that change what a query does or tells. */
function instanceReasons(sequelize: Sequelize): string[] {
  const { query, searchPath, benchmark, logQueryParameters, dialectOptions, ...others } =
    instanceOptions(sequelize);
  const { retry, omitNull, native, quoteIdentifiers } = others;
  const isSet = {
    useCLS: ambientTransactions(sequelize) !== undefined,
    query: Object.keys(query ?? {}).length > 0,
    // Without one of the user's, Sequelize repeats what SQLite refuses.
    retry: !isDeepStrictEqual(retry?.match, ['SQLITE_BUSY: database is locked']),
    omitNull: Boolean(omitNull),
    native: Boolean(native),
    quoteIdentifiers: quoteIdentifiers === false,
    searchPath: Boolean(searchPath),
    benchmark: Boolean(benchmark),
    logQueryParameters: Boolean(logQueryParameters),
    'dialectOptions.binary': Boolean(dialectOptions?.['binary']),
  };
  const names = Object.entries(isSet).flatMap(([name, is]) => (is ? [name] : []));
  return [
    ...names.map((name) => `Sequelize's option ${name} is set`),
    ...(QUERIES.has(sequelize.query) ? [] : ["Sequelize's query is overridden"]),
  ];
}

/** What sends queries, and is not the user's. */
const QUERIES: ReadonlySet<unknown> = new Set([Sequelize.prototype.query, EngineSequelize.prototype.query]);

/** What the user's class, or one that it extends, has in the place of Sequelize's. */
function overrideReasons(model: object): string[] {
  const found = lineageOf(model).flatMap((each) => [
    ...overridden(each, PlainModel).map((name) => `static ${name}`),
    ...overridden(each.prototype, PlainModel.prototype).filter((name) => !UNUSED_METHODS.has(name)),
    // A class with initialized fields has one, too, once it is compiled.
    ...(/\bconstructor\s*\(/.test(textOf(each)) ? ['the constructor'] : []),
  ]);
  return [...new Set(found)].map((name) => `the model overrides ${name}`);
}

/** The functions of Sequelize's in whose place there are others. */
function overridden(own: object, base: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(own))
    .filter(([name, { value }]) => typeof value === 'function' && name in base)
    .map(([name]) => name);
}
