/** Work of a request in the database, as one frozen value: features rewrite it, and one compiler turns it into SQL. */

import type { SortTerm } from '../compile/resource-plan.js';
import type { FurtherKey } from '../describe/foreign-keys.js';
import type { Keyset } from '../request/query/cursor-codec.js';
import type { Predicate, RelatedFilter } from '../request/query/predicate.js';
import type { Count } from './count.js';

/** The row that a written foreign key has to name: one that the request may see. */
export interface Reference extends Pick<RelatedFilter, 'target' | 'key'> {
  readonly attribute: string;
  /** The further attributes of a key of several; all of them are written with it. Default: none. */
  readonly more?: readonly FurtherKey[];
  /** Attributes that no value is written for: the row that is changed has them. Where one is NULL, it names no row. Default: none. */
  readonly own?: readonly FurtherKey[];
  /** On the rows of the target. */
  readonly where: Predicate;
}

/** Answered part of the rows: names of attributes, in the order of their columns. */
export interface Selection {
  readonly columns: readonly string[];
}

/** A page by number. */
export interface OffsetWindow {
  readonly kind: 'offset';
  /** From 1. */
  readonly page: number;
  readonly size: number;
}

/** A page next to a keyset. At most one of `after` and `before` is set. */
export interface KeysetWindow {
  readonly kind: 'keyset';
  readonly after: Keyset | null;
  readonly before: Keyset | null;
  readonly size: number;
}

/** A row by its key. */
export interface ReadOperation {
  readonly kind: 'read';
  readonly where: Predicate;
  readonly select: Selection;
  /** True where nothing else may change the row until the transaction has ended. */
  readonly isLocked?: boolean;
  /** True where the primary executes it: a replica may be behind. Default: false. */
  readonly isFresh?: boolean;
}

/** A page of rows. */
export interface ListOperation {
  readonly kind: 'list';
  /** Null is every row. */
  readonly where: Predicate | null;
  readonly select: Selection;
  /** A total order: the primary key is part of it. */
  readonly order: readonly SortTerm[];
  readonly window: OffsetWindow | KeysetWindow;
  readonly count: Count;
}

/** A new row. The values are as JavaScript has them, by attribute. */
export interface InsertOperation {
  readonly kind: 'insert';
  readonly row: Readonly<Record<string, unknown>>;
  /** Default: none. */
  readonly references?: readonly Reference[];
  readonly returning: Selection;
}

/**
 * The part of a row in a write of others that belong to it: `lock` locks the row, whether it is written or not, and with `change` it counts
 * as changed, so that its version rises.
 */
export type Touch = 'lock' | 'change';

/** A change of the rows that the predicate finds. */
export interface UpdateOperation {
  readonly kind: 'update';
  readonly where: Predicate;
  readonly set: Readonly<Record<string, unknown>>;
  /** True where the predicate finds only rows with other values, so that an unwritten row does not exist. Default: it may have the values. */
  readonly differs?: true;
  /** Default: the row is locked and changed where its values differ. */
  readonly touch?: Touch | undefined;
  /** Attributes that the request may not read: they count as changed wherever they are written. Default: none. */
  readonly unseen?: ReadonlySet<string> | undefined;
  /** Apart from the predicate, because a row that is there is not missing. Default: none. */
  readonly references?: readonly Reference[];
  readonly returning: Selection;
}

/** A row with a key of the request's: a new one, or the one that is there, with other values. */
export interface ReplaceOperation extends Pick<UpdateOperation, 'unseen' | 'touch'> {
  readonly kind: 'replace';
  /** The row with the key, as far as it may be replaced. */
  readonly where: Predicate;
  /** The row with the key, where one that is seen may not be replaced. Default: such a row may be. */
  readonly seen?: Predicate;
  /** The row with the key, where one that is soft-deleted is an error of its own. Default: it is in the way of a new row. */
  readonly gone?: Predicate | null;
  /** The values of a new row, the key among them. */
  readonly row: Readonly<Record<string, unknown>>;
  /** The values that a row is changed to. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Condition that there has to be a row, or must be none; null is either. */
  readonly only: 'change' | 'create' | null;
  /** Default: none. */
  readonly references?: readonly Reference[];
  readonly returning: Selection;
}

/** The attribute that a delete sets where it keeps the row. */
export interface DeletionMark {
  readonly attribute: string;
  /** The text of its value; null is the moment of the delete. */
  readonly value: string | null;
}

/** The end of the rows that the predicate finds. */
export interface DeleteOperation {
  readonly kind: 'delete';
  readonly where: Predicate;
  /** Null removes the row. */
  readonly mark: DeletionMark | null;
}

/** Many new rows, in the order of the request. The values are as JavaScript has them, by attribute. */
export interface InsertMany {
  /** Rows, at least one. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Each row is checked for the references that it has a value for. Default: none. */
  readonly references?: readonly Reference[];
  readonly returning: Selection;
}

/** Changes of many rows, each with values of its own. */
export interface UpdateMany extends Pick<UpdateOperation, 'unseen'> {
  /** On the rows, beside their keys; null is every row. */
  readonly where: Predicate | null;
  /** Items, at least one. */
  readonly items: readonly UpdateItem[];
  /** The attribute with the state of a row. Default: null, no state is required. */
  readonly state?: string | null;
  /** References to check, as for new rows. */
  readonly references?: readonly Reference[];
  /** True where the transaction has locked the rows already, so that any order of writes is right, and can undo them. Default: false. */
  readonly areLocked?: boolean;
  readonly returning: Selection;
}

/** The change of one row. */
export interface UpdateItem {
  /** A value that the type of the address has; the text of one beyond its range is an error of the database's. */
  readonly key: unknown;
  /** Values without the key. Attributes that are left out stay as they are. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The state that the row must be in, in the text form of its column. Default: any. */
  readonly state?: string;
  /** True where the row counts as changed, whatever the values are. Default: false. */
  readonly isTouched?: boolean;
}

/** New rows, and changes of those whose keys they have. */
export interface UpsertMany
  extends Pick<UpdateMany, 'where' | 'items' | 'references' | 'returning' | 'unseen'> {
  /** Row for each item that is inserted where no row has its key. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A change of all rows of a predicate. */
export interface UpdateMatching extends Pick<UpdateOperation, 'unseen'> {
  /** Null is every row. */
  readonly where: Predicate | null;
  /** Where one of the rows does not meet it, nothing is written; null is no such condition. Default: null. */
  readonly allowed?: Predicate | null;
  readonly set: Readonly<Record<string, unknown>>;
  readonly references?: readonly Reference[];
  /** Where more rows are found, nothing is written. */
  readonly maximum: number;
}

/** The end of all rows of a predicate. */
export interface DeleteMatching
  extends Pick<UpdateMatching, 'where' | 'allowed' | 'maximum'>,
    Pick<DeleteOperation, 'mark'> {
  /** Rows that are locked in the order of their keys, with those that end among them; without `allowed` only. Default: null, those that end. */
  readonly locked?: Predicate | null;
}

/** Any operation on one table. */
export type Operation =
  | ReadOperation
  | ListOperation
  | InsertOperation
  | UpdateOperation
  | ReplaceOperation
  | DeleteOperation;
