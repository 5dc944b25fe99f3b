/** Customizations that take part in every query of a model: the classes that its user has written, and settings of its instance. */
import { isDeepStrictEqual } from 'node:util';
import { Model as PlainModel, Sequelize } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { ModelClass } from '../../declare/crud-options.js';
import { RECORD_FIELDS } from '../../describe/describe-model.js';
import { hooksOf } from '../../describe/hooks-and-scopes-internals.js';
import { ambientTransactions, instanceOptions } from '../../describe/sequelize-internals.js';
import { EngineSequelize, isInstalledPg, knownManager } from '../../postgres/index.js';
import { keptIn, perPair } from '../../util/memo.js';

/** On either path answers are made with it, and queries without it. */
const UNUSED_METHODS: ReadonlySet<string> = new Set(['toJSON']);

/** Names of the customizations; none where queries are Sequelize's alone. */
export function queryCustomizations(model: ModelClass): string[] {
  const { sequelize } = model;
  return [...(sequelize ? instanceReasons(sequelize) : []), ...overrideReasons(model)];
}

/** True where settings, hooks or methods of the user's take part in every query of an instance. */
export function seesQueries(sequelize: Sequelize): boolean {
  const isPlain = keptIn(plainInstances, sequelize, () => instanceReasons(sequelize).length === 0);
  const { beforeQuery, afterQuery } = hooksOf(sequelize);
  return !isPlain || !QUERIES.has(sequelize.query) || Boolean(beforeQuery?.length || afterQuery?.length);
}

/** Settings are tested once; hooks can come at any time. */
const plainInstances = new WeakMap<Sequelize, boolean>();

/** Settings of the Sequelize instance that change the work or the log of a query. */
function instanceReasons(sequelize: Sequelize): string[] {
  const { query, searchPath, benchmark, logQueryParameters, dialectOptions, ...others } =
    instanceOptions(sequelize);
  const { retry, omitNull, native, quoteIdentifiers } = others;
  const isSet = {
    useCLS: ambientTransactions(sequelize) !== undefined,
    query: Object.keys(query ?? {}).length > 0,
    // The default of `retry` is about an error of SQLite.
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

const BASES: ReadonlySet<unknown> = new Set([PlainModel, Model]);

/** A class, as far as it is tested. */
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

/** The text of a class: some of its members can be seen nowhere else. */
function textOf(each: AnyClass): string {
  return Function.prototype.toString.call(each);
}

/** Methods of a model that replace Sequelize's, on its class and those that it extends. */
interface OwnMethods {
  readonly statics: ReadonlySet<string>;
  /** Methods of its records; fields that are functions count, too. */
  readonly methods: ReadonlySet<string>;
  /** True also for a constructor that cannot be tried without values. */
  readonly hasConstructor: boolean;
}

/** The methods of a model's own; computed once. */
export const ownMethods = perPair((model: object): OwnMethods => {
  const lineage = lineageOf(model);
  // A class with initialized fields has one, too, once it is compiled.
  const isWritten = lineage.some((each) => /\bconstructor\s*\(/.test(textOf(each)));
  const fields = isWritten ? [] : instanceFields(model);
  return {
    statics: new Set(lineage.flatMap((each) => overridden(each, PlainModel))),
    methods: new Set([
      ...lineage.flatMap((each) => overridden(each.prototype, PlainModel.prototype)),
      ...(fields ?? []).filter((name) => name in PlainModel.prototype),
    ]),
    hasConstructor: isWritten || fields === null,
  };
});

/** The functions of Sequelize's in whose place there are others. */
function overridden(own: object, base: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(own))
    .filter(([name, { value }]) => typeof value === 'function' && name in base && name !== 'constructor')
    .map(([name]) => name);
}

/** The fields of a class's instances beside Sequelize's; null where it throws without values. */
const instanceFields = perPair((model: object): readonly string[] | null => {
  // Constructed as a stored row: defaults of new rows may be functions of the user's.
  const Constructor = model as new (values: object, options: { isNewRecord: false }) => object;
  try {
    const own = Reflect.ownKeys(new Constructor({}, { isNewRecord: false }));
    return own.filter((name) => !RECORD_FIELDS.has(name)).map(String);
  } catch {
    return null;
  }
});

/** True where instances have fields of the class, or private methods, which only its constructor adds. */
export function hasInstanceFields(model: ModelClass): boolean {
  return instanceFields(model)?.length !== 0 || lineageOf(model).some(hasPrivateMembers);
}

/** A `#` before a letter in a string or a comment counts, too: that costs time, and nothing else. */
function hasPrivateMembers(each: AnyClass): boolean {
  return /#[\p{ID_Start}$_\\]/u.test(textOf(each));
}
