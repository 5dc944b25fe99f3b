/**
 * Parts of Sequelize that this package reads, and that are not in its types. An accessor throws where a field is
 * missing: with the field under another name, a scope or a hook would be ignored.
 */
import {
  type DataType,
  DataTypes,
  type DestroyOptions,
  type FindOptions,
  literal,
  Model,
  type ModelStatic,
  Sequelize,
  type Transaction,
} from 'sequelize';
import { missingFrom, withFields } from '../util/missing-internal.js';

/** Sequelize's version, which its types lack. */
export const SEQUELIZE_VERSION = String(Reflect.get(Sequelize, 'version'));

/** Throws for a field of Sequelize's that is not there. */
export const missing = missingFrom('Sequelize', SEQUELIZE_VERSION);

/** A part of Sequelize with fields that its types lack. @param fields words of a text, each of which has to be there */
export function partOf<T extends object>(part: object, name: string, fields: string): T {
  return withFields(part as T, name, fields, missing);
}

/** A model, as far as records are made of it. */
export interface BuildableModel {
  readonly prototype: object;
  readonly rawAttributes: object;
  readonly _schema: unknown;
  readonly _schemaDelimiter: unknown;
  /** Conversions of values that come from the database, by attribute. */
  readonly _dataTypeSanitizers: Readonly<
    Record<string, (this: object, value: unknown, options: object) => unknown>
  >;
}

interface ModelInternals extends Partial<BuildableModel> {
  readonly tableAttributes?: object;
  readonly _defaultValues?: Readonly<Record<string, () => unknown>>;
}

/** The same object with other values of some members. */
export function withMembers<M extends object>(model: M, own: Readonly<Record<PropertyKey, unknown>>): M {
  return new Proxy(model, {
    get: (target, key, receiver) => (Object.hasOwn(own, key) ? own[key] : Reflect.get(target, key, receiver)),
  });
}

/**
 * The same model, which counts up to a limit: the SELECT that would count all rows is cut, and counted. Its hooks and scopes see the options that
 * they see of any count.
 */
export function countingTo<M extends object>(model: M, limit: number): M {
  const { queryInterface } = partOf<{ queryInterface: CountingInterface }>(model, 'Model', 'queryInterface');
  const { queryGenerator } = partOf<CountingInterface>(
    queryInterface,
    'QueryInterface',
    'queryGenerator rawSelect',
  );
  partOf(queryGenerator, 'QueryGenerator', 'selectQuery');
  const selectQuery: CountingInterface['queryGenerator']['selectQuery'] = (
    table,
    { attributes, ...options },
    of,
  ) => {
    // Where a scope joins other tables, the argument makes each row count once.
    const [[counted]] = attributes;
    const shown = [[options.distinct ? counted.args[0] : literal('1'), 'one']];
    const cut = { ...options, attributes: shown, limit, subQuery: false } as never;
    const rows = queryGenerator.selectQuery(table, cut, of);
    return `SELECT count(*) AS "count" FROM (${rows.replace(/;$/, '')}) AS "rows";`;
  };
  const generator = Object.create(queryGenerator, { selectQuery: { value: selectQuery } });
  const counting = Object.create(queryInterface, { queryGenerator: { value: generator } });
  return withMembers(model, { queryInterface: counting });
}

/**
 * The same model, whose `destroy` has other code in the place of its statement. Hooks of a bulk destroy and a static method of the
 * user's see the usual arguments. The hooks of a record are left to its own `destroy`.
 *
 * @param destroy deletes the rows of the options, which hooks may have changed, and returns their number
 */
export function destroyingBy<M extends object>(
  model: M,
  destroy: (options: DestroyOptions) => Promise<number>,
): M {
  const fields = 'queryInterface runHooks';
  const { queryInterface, runHooks } = partOf<HookedModel & { queryInterface: object }>(
    model,
    'Model',
    fields,
  );
  partOf(queryInterface, 'QueryInterface', 'bulkDelete bulkUpdate');
  const runBulkHooks: HookedModel['runHooks'] = async (name, ...args) => {
    if (name.includes('Bulk')) await Reflect.apply(runHooks, model, [name, ...args]);
  };
  const deleting = Object.create(queryInterface, {
    bulkDelete: { value: (...[, , options]: [unknown, unknown, DestroyOptions]) => destroy(options) },
    bulkUpdate: {
      value: (...[, , , options]: [unknown, unknown, unknown, DestroyOptions]) => destroy(options),
    },
  });
  return withMembers(model, { runHooks: runBulkHooks, queryInterface: deleting });
}

interface HookedModel {
  runHooks(name: string, ...args: unknown[]): Promise<void>;
}

/** The same model, after each of whose hooks a callback sees the arguments as they were before, and as they are. */
export function watchingHooks<M extends object>(
  model: M,
  watch: (name: string, options: unknown) => () => void,
): M {
  const { runHooks } = partOf<HookedModel>(model, 'Model', 'runHooks');
  const runWatched: HookedModel['runHooks'] = async (name, ...args) => {
    const check = watch(name, args[0]);
    await Reflect.apply(runHooks, model, [name, ...args]);
    check();
  };
  return withMembers(model, { runHooks: runWatched });
}

/** Runs the hooks of a record, as its own methods do. */
export function runRecordHooks(record: Model, name: string, options: object): Promise<void> {
  return partOf<HookedModel>(record.constructor, 'Model', 'runHooks').runHooks(name, record, options);
}

/** True for the key that Sequelize adds to a model without one. Where its mark is not there, it is taken for a key of the user's. */
export function isAddedKey(model: ModelStatic<Model>, name: string): boolean {
  return Reflect.get(model.getAttributes()[name] ?? {}, '_autoGenerated') === true;
}

interface CountingInterface {
  readonly queryGenerator: {
    selectQuery(table: unknown, options: CountingSelect, model: unknown): string;
  };
}

interface CountingSelect {
  readonly attributes: readonly [readonly [{ readonly args: readonly unknown[] }, string]];
  readonly distinct?: boolean;
}

/** Makes Sequelize count the changes of a model's rows by an attribute, as its option `version` does. */
export function countByAttribute(model: ModelStatic<Model>, attribute: string): void {
  const fields = 'options _readOnlyAttributes';
  const { options, _readOnlyAttributes: own } = partOf<CountedModel>(model, 'Model', fields);
  // The field of Sequelize has no type, and is read by a record that is saved.
  if (!/\b_versionAttribute\b/.test(String(Model.prototype.save))) missing('Model._versionAttribute');
  options.version = attribute;
  own.add(attribute);
  Object.assign(model, { _versionAttribute: attribute });
}

interface CountedModel {
  readonly options: { version?: string | boolean };
  readonly _readOnlyAttributes: Set<string>;
}

/** Adds an attribute without a column to a model, as `removeAttribute` of Sequelize takes one away. */
export function addVirtual(model: ModelStatic<Model>, name: string, get: (this: Model) => unknown): void {
  const grown = partOf<GrowingModel>(model, 'Model', 'rawAttributes refreshAttributes');
  grown.rawAttributes[name] = { type: new DataTypes.VIRTUAL(DataTypes.TEXT), get, field: name };
  grown.refreshAttributes();
}

interface GrowingModel {
  readonly rawAttributes: Record<string, object>;
  refreshAttributes(): void;
}

/** The relations whose records a `destroy` destroys first, one by one, so that their hooks run. */
export function hookedCascades(model: ModelStatic<Model>): string[] {
  const associations: Readonly<Record<string, object>> = model.associations ?? {};
  return Object.entries(associations).flatMap(([name, association]) => {
    const { options = missing('Association.options') } = association as HookedAssociation;
    const { onDelete = '', useHooks = false } = options;
    return useHooks && onDelete.toLowerCase() === 'cascade' ? [name] : [];
  });
}

interface HookedAssociation {
  readonly options?: { readonly onDelete?: string; readonly useHooks?: boolean };
}

/** Functions that make the values of a new row that has none, by attribute. */
export function defaultValues(model: object): Readonly<Record<string, () => unknown>> {
  return (model as ModelInternals)._defaultValues ?? missing('Model._defaultValues');
}

/** An object that Sequelize makes anew whenever it adds or removes attributes of the model. */
export function attributesVersion(model: object): object | undefined {
  return (model as ModelInternals).tableAttributes;
}

/** Internals of a model by which its records are built. */
export function buildableModel(model: object): BuildableModel {
  const fields = 'rawAttributes _schema _schemaDelimiter _dataTypeSanitizers _dataTypeChanges';
  return partOf(model, 'Model', fields);
}

/** A model, as far as constraints are named after it. */
export interface ConstrainedModel {
  readonly tableName: string;
  readonly _indexes?: readonly {
    readonly name?: string;
    readonly unique?: boolean;
    readonly fields?: readonly unknown[];
  }[];
  readonly uniqueKeys?: Readonly<Record<string, { readonly fields: readonly string[] }>>;
}

/** The indexes and unique keys of a model. They only make an error more exact, so that it is no error when they are not there. */
export function constrainedModel(model: object): ConstrainedModel {
  return model as ConstrainedModel;
}

/** True for the copy of a record by `{ ...record }`: Sequelize's own fields. A Set cannot have come out of JSON. */
export function isTornRecord(value: object): boolean {
  const { dataValues, _changed } = value as { dataValues?: unknown; _changed?: unknown };
  return typeof dataValues === 'object' && _changed instanceof Set;
}

/** The values of a record, and those that it had. */
export function valuesOfRecord(record: Model): readonly Record<string, unknown>[] {
  type Previous = Record<'_previousDataValues', Record<string, unknown>>;
  return [record.dataValues, partOf<Previous>(record, 'record', '_previousDataValues')._previousDataValues];
}

/**
 * Makes methods of records throw that write or read their row, where the model has no primary key. Sequelize finds such a row by the
 * condition of the last query of the class, and would write and delete other rows. `create` and statics with a condition are as before.
 */
export function refuseRowsWithoutKey({ name, options }: ModelStatic<Model>): void {
  const refuse = (): never => {
    throw new TypeError(
      `A record of ${name} cannot be saved, destroyed or read again: its model has no primary key, and Sequelize would take the rows of the ` +
        `last query in its place. Write with a condition, as ${name}.update(values, { where: … }) does, or give the model a key.`,
    );
  };
  Object.defineProperty(options, 'whereCollection', {
    get: refuse,
    set: () => {},
    enumerable: false,
    configurable: true,
  });
}

/** A data type, which Sequelize types as a class of its own for each. */
export interface DataTypeInstance {
  readonly key: string;
  readonly _length?: number | string;
  readonly _binary?: boolean;
  readonly _precision?: number;
  readonly _scale?: number;
  readonly values?: readonly string[];
  readonly type?: DataType;
  readonly options?: { readonly subtype?: DataType; readonly length?: number };
}

/** The data type of an attribute; a text where that is all there is. */
export function dataTypeInstance(type: DataType): DataTypeInstance | string {
  if (typeof type !== 'function') return type as DataTypeInstance | string;
  return Reflect.construct(type, []) as DataTypeInstance;
}

/** Options of an instance. */
export interface InstanceOptions {
  readonly logging?: unknown;
  readonly typeValidation?: boolean;
  readonly timezone?: string;
  readonly query?: object;
  readonly retry?: { readonly match?: unknown };
  readonly omitNull?: boolean;
  readonly attributeBehavior?: 'escape' | 'throw' | 'unsafe-legacy';
  readonly native?: boolean;
  readonly quoteIdentifiers?: boolean;
  readonly searchPath?: unknown;
  readonly benchmark?: boolean;
  readonly logQueryParameters?: boolean;
  readonly dialectOptions?: Readonly<Record<string, unknown>>;
}

/** The options of an instance: one object, whose members may change at any time. */
export function instanceOptions(sequelize: object): InstanceOptions {
  return (sequelize as { options?: InstanceOptions }).options ?? missing('Sequelize.options');
}

/** Makes Sequelize read columns of HSTORE as their texts, where the package that it reads them with is missing. */
export function readHstoreAsText({ sequelize }: ModelStatic<Model>): void {
  try {
    (sequelize as object as { normalizeAttribute(options: object): void }).normalizeAttribute({
      type: DataTypes.HSTORE,
    });
  } catch {
    const { postgres } = DataTypes as object as {
      postgres?: { readonly HSTORE?: { parse(text: string): unknown } };
    };
    const type = postgres?.HSTORE ?? missing('Sequelize.DataTypes.postgres.HSTORE');
    type.parse = (text) => text;
  }
}

/** Logs a statement as queries of an instance do, where its option `logging` is set. */
export function logStatement(sequelize: Sequelize, text: string, transaction = 'default'): void {
  const { log = missing('Sequelize.log') } = sequelize as { log?: (message: string) => void };
  log.call(sequelize, `Executing (${transaction}): ${text}`);
}

/** Prototype of the queries of an instance, whose `formatError` converts errors of the driver. */
export function queryPrototype(sequelize: Sequelize): { formatError(error: Error, stack?: string): Error } {
  const { dialect } = sequelize as object as {
    dialect?: { readonly Query?: { readonly prototype: object } };
  };
  return partOf(dialect?.Query?.prototype ?? missing('Sequelize.dialect.Query'), 'Query', 'formatError');
}

/** Transactions of `Sequelize.useCLS`, which no caller passes; undefined where it was not called. */
export interface AmbientTransactions {
  get(name: 'transaction'): (Transaction & { sequelize: object; finished?: string }) | null | undefined;
}

/** Value of `Sequelize.useCLS`. */
export function ambientTransactions(sequelize: object): AmbientTransactions | undefined {
  return (sequelize.constructor as { _cls?: AmbientTransactions })._cls;
}

/** The transaction of `Sequelize.useCLS` that the running code is in, where it is one of this instance, and goes on. */
export function ambientTransaction(sequelize: object): Transaction | null {
  const transaction = ambientTransactions(sequelize)?.get('transaction');
  return transaction?.sequelize === sequelize && !transaction.finished ? transaction : null;
}

/** A data type, as far as it makes SQL of values. */
export interface WritingType {
  /** True where the result of `stringify` is still to be quoted. */
  readonly escape?: boolean;
  stringify(value: unknown, options: { escape(value: unknown): string }): unknown;
  bindParam(value: unknown, options: { bindParam(value: unknown): string }): unknown;
  _sanitize?(this: unknown, value: unknown, options?: object): unknown;
  _isChanged?(this: unknown, value: unknown, original: unknown): boolean;
}

/**
 * Changes the data types of a model's attributes, also those that Sequelize puts in their place when it makes a table. Types that are
 * only a text have nothing to change.
 */
export function changeTypes(model: ModelStatic<Model>, change: (type: WritingType) => void): void {
  // The trial at the start names one that is missing; only values in odd forms need them.
  const { _dataTypeSanitizers: sanitizers = {}, _dataTypeChanges: changes = {} } =
    model as object as Partial<TypedModel>;
  for (const [name, attribute] of Object.entries(model.getAttributes())) {
    const changed = (type: DataType): DataType => {
      if (typeof type !== 'object') return type;
      const own = partOf<WritingType>(type, 'DataType', 'stringify bindParam');
      change(own);
      if (own._sanitize) sanitizers[name] = own._sanitize;
      if (own._isChanged) changes[name] = own._isChanged;
      return type;
    };
    let current = changed(attribute.type);
    Object.defineProperty(attribute, 'type', {
      enumerable: true,
      configurable: true,
      get: () => current,
      set: (type: DataType) => {
        current = changed(type);
      },
    });
  }
}

/** Sets a function that compares values of an attribute whose type is only a text. Sequelize's own types have one. */
export function changeComparison(
  model: ModelStatic<Model>,
  attribute: string,
  isChanged: (value: unknown, original: unknown) => boolean,
): void {
  const { _dataTypeChanges: changes = {} } = model as object as Partial<TypedModel>;
  changes[attribute] = isChanged;
}

interface TypedModel {
  /** By attribute, as Sequelize took them from the types. */
  readonly _dataTypeSanitizers: Record<string, unknown>;
  readonly _dataTypeChanges: Record<string, unknown>;
}

/** The same model, whose bulk destroy finds the records of all rows for their hooks: Sequelize leaves out those that a soft delete has marked. */
export function findingGone<M extends Model>(model: ModelStatic<M>): ModelStatic<M> {
  return withMembers(model, {
    findAll: (options: FindOptions) => model.findAll({ ...options, paranoid: false }),
  });
}
