/** Records of a model whose queries are Sequelize's alone: read and written by our own statements, and made without its finders. */

import { DatabaseError, type Model, type Sequelize, Utils } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import type { Endpoint } from '../../declare/endpoint.js';
import type { ColumnType } from '../../describe/column-type.js';
import { describeAddressed, perModel } from '../../describe/describe-model.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { keyText, partsOf } from '../../describe/row-key.js';
import { severalRecords } from '../../errors/errors.js';
import { toSequelizeError } from '../../errors/sequelize-error.js';
import { columnsGiven } from '../../operation/compile-operation.js';
import type { Operation } from '../../operation/operation.js';
import type { StatementTarget, TextParser } from '../../postgres/index.js';
import { perPair } from '../../util/memo.js';
import { type Hydrate, pristineHydrator, storedAttributes } from '../customization/hydrate-record.js';
import { sequelizeProblem } from '../customization/internals-trial.js';
import { openTest } from '../customization/plain-queries.js';
import type { Executor } from '../executor.js';
import { SqlExecutor } from '../rows/sql-executor.js';
import { keySlots, type WriteValues } from '../sql/encode-parameter.js';
import { joinSlots, NO_SLOTS, type Slots } from '../sql/statement.js';
import type { FoundRecords, Id, RecordCall } from './repository-operations.js';

/** The records of a model; null where Sequelize has other internals than the tested ones. */
export function rowRecords<M extends Model>(
  model: ModelClass<M>,
  address: string | null,
): RowRecords<M> | null {
  const plain = model as unknown as ModelClass;
  const info = recordsOf(plain) && describeAddressed(plain, address);
  return info ? (recordsOf(plain)?.(info as ModelInfo) as unknown as RowRecords<M>) : null;
}

const recordsOf = perModel((model) => {
  return model.sequelize !== undefined && !sequelizeProblem()
    ? perPair((info: ModelInfo) => new RowRecords(info))
    : null;
});

class RowRecords<M extends Model = Model> implements Executor<FoundRecords<M>, RecordCall<M>> {
  readonly #info: ModelInfo;
  readonly #executor: SqlExecutor;
  /** The attributes that records of these columns are made of; null where one is no column. The same for the same list. */
  readonly #attributesOf: (columns: readonly string[]) => readonly AttributeInfo[] | null;
  /** Makes records of rows whose columns are read by these parsers: statements that take turns have parsers of their own. */
  readonly #hydrate: (parsers: readonly TextParser[], attributes: readonly AttributeInfo[]) => Hydrate;

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.#info = info;
    this.#executor = new SqlExecutor(info);
    const stored = new Map(storedAttributes(info).map((each) => [each.name, each]));
    this.#attributesOf = perPair((columns: readonly string[]) => {
      const found = columns.flatMap((name) => stored.get(name) ?? []);
      return found.length > 0 && found.length === columns.length ? found : null;
    });
    this.#hydrate = perPair((parsers: readonly TextParser[], attributes) =>
      pristineHydrator({ info, attributes: attributes ?? [], parsers }),
    );
  }

  run(operation: Operation, slots: Slots, call: RecordCall<M>): Promise<FoundRecords<M> | null> {
    const filled = call.id === undefined ? slots : this.#withKey(call.id, slots);
    const attributes = operation.kind === 'delete' ? [] : this.#attributesOf(columnsGiven(operation));
    const isOfSequelize = call.where !== undefined || call.find || call.purge;
    if (!filled || !attributes || isOfSequelize || !this.canRun(operation)) return Promise.resolve(null);
    const isRead = operation.kind === 'read' || operation.kind === 'list';
    const running = isRead
      ? this.#executor.run(operation, filled, call.on)
      : this.#write(operation, filled, call.on);
    return running.then((found) => {
      if (found === null) return null;
      const { count, rows, parsers } = found;
      if (operation.kind === 'read' && count > 1) {
        const { name, address } = this.#info;
        throw severalRecords({ name, key: keyText(address) });
      }
      // Where there are no rows, no statement has said how to read one.
      const records = rows.length === 0 ? [] : rows.map(this.#hydrate(parsers, attributes));
      return { records: records as M[], count, page: 'page' in found ? found.page : null };
    });
  }

  /** Reports a failure of a write as Sequelize does: unlike those of reads, it has a class for each kind of constraint. */
  async #write(operation: Operation, slots: Slots, on: StatementTarget | undefined) {
    try {
      return await this.#executor.run(operation, slots, on);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const { model } = this.#info;
      const instance = model.build({ ...valuesOf(operation) });
      throw toSequelizeError(model.sequelize as Sequelize, error.parent, { model, instance });
    }
  }

  /** True where neither the model nor the values of the operation need Sequelize. */
  canRun(operation: Operation): boolean {
    const endpoint = endpointOf(operation);
    return (
      openTest(this.#info, endpoint, true)() &&
      hasPlainWindow(operation) &&
      this.#areOrdinary(valuesOf(operation), endpoint === 'create')
    );
  }

  /** True for a key that Sequelize would write just so. */
  takesKey(id: Id): boolean {
    return this.#withKey(id, NO_SLOTS) !== null;
  }

  /** The slots with that of the key; null for a key that Sequelize would write otherwise. */
  #withKey(id: Id, slots: Slots): Slots | null {
    const { address } = this.#info;
    const parts = partsOf(address, id);
    const isOrdinaryId = address.every(({ type }, index) => isOrdinaryKey(type, parts[index]));
    const texts = isOrdinaryId ? keySlots(address, id) : null;
    return texts && joinSlots(texts, slots);
  }

  /** True where Sequelize would write just these values. */
  #areOrdinary(values: WriteValues, isNew: boolean): boolean {
    return Object.entries(values).every(([name, value]) => {
      if (value === undefined) return true;
      const attribute = this.#info.attributes.get(name);
      const { role } = attribute ?? {};
      if (!attribute || !(role === 'data' || (isNew && (role === 'primaryKey' || role === 'mark'))))
        return false;
      return value === null ? attribute.nullable : isOrdinary(attribute.type, value);
    });
  }
}

function endpointOf(operation: Operation): Endpoint {
  switch (operation.kind) {
    case 'read':
    case 'list':
      return 'list';
    case 'insert':
      return 'create';
    case 'delete':
      return operation.mark === null ? 'purge' : 'delete';
    default:
      return 'differs' in operation ? 'restore' : 'update';
  }
}

/** The values of a write, as its caller passed them. */
function valuesOf(operation: Operation): WriteValues {
  if (operation.kind === 'insert') return operation.row;
  return operation.kind === 'update' && !operation.differs ? operation.set : {};
}

/** True for a page with numbers that may be part of a text. */
function hasPlainWindow(operation: Operation): boolean {
  if (operation.kind !== 'list') return true;
  const { window } = operation;
  const isPage = window.kind === 'keyset' || (Number.isSafeInteger(window.page) && window.page >= 1);
  return isPage && Number.isSafeInteger(window.size) && window.size >= 0;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** True where Sequelize and we write the value alike; null is one of its own for each column. */
function isOrdinary(type: ColumnType, value: unknown): boolean {
  switch (type.kind) {
    case 'integer':
    case 'bigint':
    case 'decimal':
      return isNumeric(value);
    case 'float':
      return typeof value !== 'bigint' && isNumeric(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'dateonly':
      return typeof value === 'string' && DAY.test(value);
    case 'virtual':
      // No column takes it, and a record holds it.
      return false;
    case 'json':
      return !(value instanceof Utils.SequelizeMethod);
    case 'date':
    case 'array':
    case 'blob':
      return true;
    default:
      // Sequelize writes a NUL, which PostgreSQL refuses, as something else.
      return typeof value === 'string' && !value.includes('\0');
  }
}

/** An object may have a `toString` that is no function, or code of the user's. */
function isNumeric(value: unknown): boolean {
  return typeof value !== 'object' && NUMBER.test(String(value));
}

/** True where a row may be found by the value: one beyond the range of the column would be an error, and not no row. */
function isOrdinaryKey(type: ColumnType, value: unknown): boolean {
  if (value === null || !isOrdinary(type, value)) return false;
  if (type.kind !== 'integer' && type.kind !== 'bigint') return true;
  const isWhole = Number.isSafeInteger(Number(value));
  return (
    isWhole && (type.kind === 'bigint' || (Number(value) >= type.minimum && Number(value) <= type.maximum))
  );
}
