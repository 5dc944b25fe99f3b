/** Records that a repository within an access has returned: writes of their own methods stay in the scope of the request. */

import { isDeepStrictEqual } from 'node:util';
import {
  type Association,
  type FindOptions,
  literal,
  type Model,
  type ProjectionAlias,
  QueryTypes,
  type Sequelize,
  type Transaction,
} from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { isRecord, modelOf } from '../../describe/record.js';
import { keyText } from '../../describe/row-key.js';
import { ambientTransaction } from '../../describe/sequelize-internals.js';
import { noSuchRecord } from '../../errors/errors.js';
import { type Access, type AccessSource, allowsValue } from '../../operation/access.js';
import { currentSession } from '../../postgres/index.js';
import type { Comparison, Predicate, Value } from '../../request/query/predicate.js';
import { keptIn } from '../../util/memo.js';
import { pristineRow } from '../customization/hydrate-record.js';
import { refusedRow } from '../executor.js';
import { inTransaction } from '../session/database-session.js';
import { encodeParameter, type WriteValues } from '../sql/encode-parameter.js';
import { attributeOf, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { joinSql, quotedSql, raw, sql } from '../sql/sql-fragment.js';
import { exactValue } from './exact-keys.js';
import { checkReferences } from './scoped-values.js';
import { modelTriggers } from './update-record.js';

const SOURCE = Symbol('access of a record');

interface GuardedRecord extends Model {
  readonly [SOURCE]: AccessSource;
}

/** Options of a method of Sequelize's, which may name a transaction. */
type MethodOptions = Readonly<Record<string, unknown>> & { readonly transaction?: Transaction | null };

/** The methods of Sequelize's that write a row, and the place of their options. `update`, `restore`, `decrement` and relations call them. */
const WRITES = { save: 0, destroy: 0, increment: 1 } as const;

/** Restricts writes of records of a repository, and of those that were loaded along, to the access of their models; null is everything. */
export function guardRecords<R extends Model, T extends readonly R[] | R | null>(
  records: T,
  source: AccessSource | null,
): T {
  if (source === null || records === null) return records;
  const known = new Map<object, PropertyDescriptorMap | null>();
  // A record that a session has only read may be written once that has ended.
  for (const record of [records].flat() as readonly R[]) guardRecord(record, source, known);
  return records;
}

function guardRecord(
  record: object,
  source: AccessSource,
  known: Map<object, PropertyDescriptorMap | null>,
): void {
  if (!isRecord(record)) return;
  const model = modelOf(record);
  const guards = keptIn(known, model, () => {
    const own = source.of?.(model) ?? null;
    return own && { ...METHODS, ...getters(model), [SOURCE]: { value: own, configurable: true } };
  });
  if (guards && !Object.hasOwn(record, SOURCE)) Object.defineProperties(record, guards);
  for (const each of loadedAlong(record)) guardRecord(each, source, known);
}

/** Records that a record holds. A record that no code has read is not read for it. */
function loadedAlong(record: object): readonly object[] {
  const values = pristineRow(record)?.relations ?? (record as Model).dataValues;
  return Object.values(values as Readonly<Record<string, unknown>>)
    .flat()
    .filter((each) => typeof each === 'object' && each !== null && isRecord(each)) as object[];
}

const METHODS: PropertyDescriptorMap = {
  ...Object.fromEntries(
    Object.entries(WRITES).map(([name, place]) => [
      name,
      method(function (this: GuardedRecord, ...args: unknown[]) {
        return write(this, name, place, args);
      }),
    ]),
  ),
  reload: method(async function (this: GuardedRecord, ...args: unknown[]) {
    const found = await Reflect.apply(methodOf(this, 'reload'), this, args);
    const access = await this[SOURCE]();
    const { dataValues } = this as { readonly dataValues: WriteValues };
    for (const name of access.form.scope.keys())
      if (dataValues[name] !== undefined && !allowsValue(access, name, dataValues[name])) missing(this);
    guardRecords(loadedAlong(this) as readonly Model[], this[SOURCE]);
    return found;
  }),
};

/** The methods of Sequelize's that load the relations of a record. `$get` calls them. */
function getters({ associations }: ModelClass): PropertyDescriptorMap {
  const loaders = Object.values(associations).map((association) => {
    const { accessors } = association as Association & { readonly accessors: { readonly get: string } };
    const { get: name } = accessors;
    const load = async function (this: GuardedRecord, ...args: unknown[]) {
      const found = await Reflect.apply(methodOf(this, name), this, args);
      return guardRecords(found as Model | readonly Model[] | null, this[SOURCE]);
    };
    return [name, method(load)];
  });
  return Object.fromEntries(loaders);
}

function method(value: (this: GuardedRecord, ...args: unknown[]) => unknown): PropertyDescriptor {
  return { value, configurable: true, writable: true };
}

function methodOf(record: object, name: string): (...args: unknown[]) => unknown {
  return Reflect.get(Object.getPrototypeOf(record), name, record);
}

/** Runs a write of a record in the transaction that it belongs to, or in one of its own. */
async function write(record: GuardedRecord, name: string, place: number, args: unknown[]): Promise<unknown> {
  const run = methodOf(record, name);
  const { [SOURCE]: source } = record;
  const row = new GuardedRow(record, source, await source());
  if (!row.isKept) return Reflect.apply(run, record, args);
  const options = (args[place] ?? {}) as MethodOptions;
  const within = (transaction: Transaction) =>
    row.keep(transaction, () =>
      Reflect.apply(run, record, args.toSpliced(place, 1, { ...options, transaction })),
    );
  const { sequelize } = row;
  const own =
    options.transaction === undefined
      ? (ambientTransaction(sequelize) ?? (await currentSession(sequelize)?.transactionFor('other')))
      : options.transaction;
  if (own) return within(own as Transaction);
  return inTransaction(sequelize, 'write', within);
}

function missing(record: Model): never {
  const { name, primaryKey } = describeRecords(modelOf(record as never));
  throw noSuchRecord({ name, key: keyText(primaryKey) });
}

/** No attribute has them. */
const INSIDE = 'is inside';
const ALLOWED = 'is allowed';

/** State of a row: a mark for the scope, a mark for the rule of the operation, and its values of scoped attributes and of references. */
interface RowState {
  readonly isInside: boolean;
  readonly isAllowed: boolean;
  readonly values: WriteValues;
}

/** The row of a record that code of the user's takes part in writing. */
export class GuardedRow {
  readonly sequelize: Sequelize;
  readonly #record: Model;
  readonly #source: AccessSource;
  readonly #access: Access;
  readonly #info: RecordInfo;
  /** Attributes that keep their values. */
  readonly #scoped: readonly string[];
  /** Attributes that name rows of other models, those of one key together. */
  readonly #keys: readonly (readonly string[])[];

  constructor(record: Model, source: AccessSource, access: Access) {
    const model = modelOf(record as never);
    this.sequelize = model.sequelize as Sequelize;
    this.#record = record;
    this.#source = source;
    this.#access = access;
    this.#info = describeRecords(model);
    this.#scoped = [...access.values().keys()];
    this.#keys = source.keys ?? [];
  }

  /** True where a write could break the scope or a reference. Sequelize refuses a write of a record without its key. */
  get isKept(): boolean {
    const isKnown = Object.values(this.#key()).every((value) => value !== undefined);
    const isRuled = this.#access.allowed !== null;
    return isKnown && (isRuled || this.#scoped.length + this.#keys.length > 0);
  }

  /**
   * Writes the row, which nothing else changes meanwhile.
   *
   * @throws NotFoundError where it is not in the scope any more, and nothing was written
   * @throws RefusedRequestError 403 where the rule of the operation refuses it, and nothing was written
   * @throws TypeError where it has left the scope afterwards, or DatabaseError where it refers to a row that the request may not see: the
   * transaction cannot be committed then, even if the error is caught
   */
  async keep<T>(transaction: Transaction, run: () => Promise<T> | T): Promise<T> {
    const { isNewRecord } = this.#record;
    const { isPlain } = await modelTriggers(modelOf(this.#record as never), { transaction });
    const before = await this.#read(transaction, isPlain);
    if (!isNewRecord && !before?.isInside) return missing(this.#record);
    if (!isNewRecord && before?.isAllowed === false) throw refusedRow('update', this.#info.name);
    try {
      const result = await run();
      await this.check(before?.values ?? null, transaction);
      return result;
    } catch (error) {
      // Something may have been written before it was thrown.
      await this.check(before?.values ?? null, transaction).catch(() => {});
      throw error;
    }
  }

  /**
   * Checks the row once it is written.
   *
   * @param before its values until then, as far as they were read: of a new one, keys that were checked; null is none
   * @returns its values of scoped attributes and of references; null where it is gone
   * @throws as `keep`
   */
  async check(before: WriteValues | null, transaction: Transaction): Promise<WriteValues | null> {
    const after = await this.#read(transaction, false);
    if (!after) return null;
    const isSame = (name: string) => before !== null && isDeepStrictEqual(before[name], after.values[name]);
    try {
      const isMoved = (name: string) => before !== null && Object.hasOwn(before, name) && !isSame(name);
      if (!after.isInside || this.#scoped.some(isMoved)) {
        const names = this.#scoped.join(', ');
        throw new TypeError(
          `Code of ${this.#info.name} moved a row out of the scope of its request (${names}).`,
        );
      }
      const changed = this.#keys.filter(
        (names) => !names.every(isSame) && names.every((name) => after.values[name] !== null),
      );
      const values = Object.fromEntries(changed.flat().map((name) => [name, after.values[name]]));
      if (changed.length > 0)
        await checkReferences(this.#info, await this.#source(values), values, { transaction });
      return after.values;
    } catch (error) {
      // A statement that fails has PostgreSQL refuse the commit.
      const failing = "SELECT 'A row has left the access of its request.'::int4";
      await this.sequelize.query(failing, { transaction, type: QueryTypes.SELECT }).catch(() => {});
      throw error;
    }
  }

  async #read(transaction: Transaction, isLocked: boolean): Promise<RowState | null> {
    const { model, primaryKey } = this.#info;
    if (primaryKey.length === 0) return this.#stateWithoutKey();
    const inside: ProjectionAlias = [literal(this.#insideSql()), INSIDE];
    const { allowed } = this.#access;
    const ruled: ProjectionAlias[] = allowed ? [[literal(this.#sqlOf([allowed])), ALLOWED]] : [];
    const query: FindOptions & { readonly hooks: false } = {
      attributes: [...new Set([...this.#scoped, ...this.#keys.flat()]), inside, ...ruled],
      where: this.#key(),
      hooks: false,
      paranoid: false,
      raw: true,
      transaction,
      ...(isLocked ? { lock: { level: transaction.LOCK.NO_KEY_UPDATE, of: model } } : {}),
    };
    const found = (await model.unscoped().findOne(query)) as unknown as WriteValues | null;
    return (
      found && {
        isInside: found[INSIDE] === true,
        isAllowed: allowed === null || found[ALLOWED] === true,
        values: found,
      }
    );
  }

  /** No condition finds its row. A new one is as it came back: its scoped attributes are those that were inserted. */
  #stateWithoutKey(): RowState | null {
    const { isNewRecord, dataValues } = this.#record;
    return isNewRecord ? null : { isInside: true, isAllowed: true, values: dataValues };
  }

  #key(): Record<string, unknown> {
    return Object.fromEntries(
      this.#info.primaryKey.map(({ name }) => [name, exactValue(this.#record, name)]),
    );
  }

  /** SQL that is true where the row has one of the allowed values of each scoped attribute. */
  #insideSql(): string {
    const conditions = [...this.#access.values()].map(([attribute, allowed]): Comparison<Value> => {
      const { type } = attributeOf(this.#info, attribute);
      const values = allowed.flatMap((value) => encodeParameter(type, value) ?? []);
      return { kind: 'comparison', attribute, operator: '=in=', values };
    });
    return this.#sqlOf(conditions);
  }

  /** SQL that is true where all conditions are. */
  #sqlOf(predicates: readonly Predicate[]): string {
    const column = columnsOf(this.#info, this.#info.name);
    const conditions = predicates.map((each) => sql`(${compilePredicate(each, column)}) IS TRUE`);
    const all = conditions.length > 0 ? joinSql(conditions, ' AND ') : raw('true');
    return quotedSql(all);
  }
}
