/** The operations of repositories: those of a resource without options, made by the features that routes have. */
import type { Model, Transaction } from 'sequelize';
import { barePlan } from '../../compile/bare-plan.js';
import type { Where } from '../../declare/attributes.js';
import type { Endpoint, ModelClass } from '../../declare/crud-options.js';
import { describeAddressed } from '../../describe/describe-model.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { ROW_FEATURES } from '../../features/row-features.js';
import type { PurgeOptions } from '../../features/soft-delete/restore-and-purge.js';
import { checkSoftDeletion } from '../../features/soft-delete/soft-delete.js';
import type { Access, AccessSource } from '../../operation/access.js';
import { compileOperations, NO_INPUTS } from '../../operation/compile-features.js';
import type { WrittenValues } from '../../operation/compile-operation.js';
import type { Inputs } from '../../operation/feature.js';
import type { Operation } from '../../operation/operation.js';
import type { StatementTarget } from '../../postgres/index.js';
import { createCursorCodec } from '../../request/query/cursor-codec.js';
import { perPair } from '../../util/memo.js';
import { storedAttributes } from '../customization/hydrate-record.js';
import type { Page } from '../page.js';
import type { ListOptions } from './repository-options.js';

/**
 * The value that addresses a record: of its primary key, or of the attribute that `id` in `@Crud` names. Where these are several
 * attributes, an object with a value for each.
 *
 * @example
 * ```ts
 * await new Repository(OrderLine).get({ orderId: 10248, lineNo: 11 });
 * ```
 */
export type Id =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Readonly<Record<string, string | number | bigint | boolean | Date>>;

/** Options of Sequelize for a list that is no page. */
export type FindWords<M extends Model> = Pick<ListOptions<M>, 'order' | 'limit' | 'offset'> & {
  readonly where?: Where<M>;
};

/** Parts of a call that are no part of its operation, and the connection of its statements. */
export interface RecordCall<M extends Model> {
  /** The value of the slots of the key, as the caller has it. */
  readonly id?: Id | undefined;
  /** A condition in Sequelize's words. */
  readonly where?: Where<M> | undefined;
  /** Options of Sequelize for a list that is no page. */
  readonly find?: FindWords<M>;
  /** The rows of a purge that has no key. */
  readonly purge?: Required<PurgeOptions>;
  /** Our own statements run there. Default: any connection of the pool. */
  readonly on?: StatementTarget | undefined;
  readonly hooks?: false;
  readonly transaction?: Transaction;
  readonly useMaster?: boolean;
}

/** Transaction and access of a query of a repository. */
export interface QueryContext {
  /** The transaction, as an option of a query. */
  readonly scope: { readonly transaction?: Transaction };
  readonly access: Access;
  /** Where the access is from; null is everything. */
  readonly source: AccessSource | null;
  /** The attributes that address a row, as `keyText` writes them; null is as the model says. */
  readonly address: string | null;
}

/** Options of a read that are inputs of its operation. */
export type ReadChoice = Readonly<Partial<Record<'fields' | 'filter' | 'deleted', unknown>>>;

/** The inputs of a read; undefined where there are none. */
export function inputsOf({ fields, filter, deleted }: ReadChoice): Inputs | undefined {
  const isAny = fields || filter || deleted !== undefined;
  return isAny ? ({ fields, filter, deleted } as Inputs) : undefined;
}

/** The attributes that are read, with those of a key of several: a record without one of them could not be saved. */
export function withKeyOf<M extends Model>(model: ModelClass<M>, read: readonly string[]): readonly string[] {
  const { primaryKeyAttributes: key } = model;
  return [...new Set(key.length > 1 ? [...read, ...key] : read)];
}

/** Records that an operation has found or written. */
export interface FoundRecords<M extends Model> {
  readonly records: M[];
  /** Number of the rows, of a delete too. */
  readonly count: number;
  /** Keys of rows that are gone, where the call has none. */
  readonly keys?: readonly unknown[];
  /** Null for an operation that is no list. The items of a page are not the records. */
  readonly page: Page<unknown> | null;
}

/** Records that are no page. */
export function foundAll<M extends Model>(records: M[], count = records.length): FoundRecords<M> {
  return { records, count, page: null };
}

/** A record, or none. */
export function foundOne<M extends Model>(record: M | null): FoundRecords<M> {
  return foundAll(record ? [record] : []);
}

/**
 * Makes an operation on a model, of parsed inputs.
 *
 * @throws TypeError where it is of soft deletion, and the model has none
 */
export function repositoryOperation<M extends Model>(
  model: ModelClass<M>,
  endpoint: Endpoint,
  access: Access,
  address: string | null,
  inputs: Inputs = NO_INPUTS,
  values?: WrittenValues,
): Operation {
  const info = describeAddressed(model as unknown as ModelClass, address);
  const { operations } = compiled(info);
  checkSoftDeletion(info, endpoint, inputs);
  return operations[endpoint](inputs, access, values);
}

const cursors = createCursorCodec([]);

const compiled = perPair((info: RecordInfo) => {
  const columns = Object.freeze(storedAttributes(info).map(({ name }) => name));
  const view = { readable: columns, columnsOf: (fields: readonly string[] | null) => fields ?? columns };
  const context = { plan: barePlan(info), ...view, cursors, views: () => view };
  return { operations: compileOperations(context, ROW_FEATURES) };
});
