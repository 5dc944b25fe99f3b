/** Customizations that take part in every query of a model: overridden methods, and settings of its instance. */

import { isDeepStrictEqual } from 'node:util';
import { Sequelize } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { ambientTransactions, hooksOf, instanceOptions } from '../../describe/sequelize-internals.js';
import { EngineSequelize, isInstalledPg, knownManager } from '../../postgres/index.js';
import { ownMethods } from './class-lineage.js';

/** On either path answers are made with it, and queries without it. */
const UNUSED_METHODS: ReadonlySet<string> = new Set(['toJSON']);

/** Names of the customizations; none where queries are Sequelize's alone. */
export function queryCustomizations(model: ModelClass): string[] {
  const { sequelize } = model;
  return [...(sequelize ? instanceReasons(sequelize) : []), ...overrideReasons(model)];
}

/** True where settings, hooks or methods of the user's take part in every query of an instance. */
export function seesQueries(sequelize: Sequelize): boolean {
  let isPlain = plainInstances.get(sequelize);
  if (isPlain === undefined) {
    isPlain = instanceReasons(sequelize).length === 0;
    plainInstances.set(sequelize, isPlain);
  }
  const { beforeQuery, afterQuery } = hooksOf(sequelize);
  return !isPlain || !QUERIES.has(sequelize.query) || Boolean(beforeQuery?.length || afterQuery?.length);
}

/** Settings are looked at once; hooks can come at any time. */
const plainInstances = new WeakMap<Sequelize, boolean>();

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
    ...(isInstalledPg(knownManager(sequelize)?.lib)
      ? []
      : ['the driver is another one than the installed pg']),
    ...(QUERIES.has(sequelize.query) ? [] : ["Sequelize's query is overridden"]),
  ];
}

/** Methods that send queries, and are not the user's. */
const QUERIES: ReadonlySet<unknown> = new Set([Sequelize.prototype.query, EngineSequelize.prototype.query]);

/** Methods that the user's class, or one that it extends, has in the place of Sequelize's. */
function overrideReasons(model: object): string[] {
  const { statics, methods, hasConstructor } = ownMethods(model);
  const found = [
    ...[...statics].map((name) => `static ${name}`),
    ...[...methods].filter((name) => !UNUSED_METHODS.has(name)),
    ...(hasConstructor ? ['the constructor'] : []),
  ];
  return found.map((name) => `the model overrides ${name}`);
}

/** True where methods of the user's take part in Sequelize's work on records of a model. */
export function hasOwnMethods(model: object): boolean {
  return overrideReasons(model).length > 0;
}
