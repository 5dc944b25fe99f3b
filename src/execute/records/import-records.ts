/** Stores any number of rows of the application's own code, a thousand at a time: by one statement, or by the methods of the repository for each row. */
import { type Model, type Sequelize, type Transaction, ValidationError } from 'sequelize';
import type { CreateValues, UpdateValues } from '../../declare/attributes.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { IMPORT_MODES, type ImportMode } from '../../declare/import-options.js';
import { describeAddressed } from '../../describe/describe-model.js';
import { uniqueFields } from '../../describe/foreign-keys.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { idOf, isOfKey, keyNames, keyText, partsOf } from '../../describe/row-key.js';
import { isUniqueKey, tableFacts } from '../../describe/table-facts.js';
import { isRefusal } from '../../errors/database-fault.js';
import { PersistenceError } from '../../errors/errors.js';
import type { InsertOperation, UpdateItem, UpdateOperation } from '../../operation/operation.js';
import { allOf, withKeys, withoutId } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import {
  currentSession,
  isOnSequelize,
  type StatementTarget,
  statementRunner,
} from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { inHalves } from '../../util/halves.js';
import { perPair } from '../../util/memo.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';
import type { Maybe } from '../../util/promises.js';
import { without } from '../../util/without.js';
import { ManyRows } from '../rows/many-rows.js';
import { COUNTED, orderTest, referred, slotsOf } from '../rows/many-writes.js';
import { createOrChange } from '../session/create-or-change.js';
import { DatabaseSession } from '../session/database-session.js';
import { joinableSession, runInSavepoint } from '../session/savepoint.js';
import { encodeParameter, type WriteValues } from '../sql/encode-parameter.js';
import { type Id, type QueryContext, repositoryOperation } from './repository-operations.js';
import { rowRecords } from './row-records.js';
import { isFollowed } from './run-records.js';
import { changesWithin, checkNewRow } from './scoped-values.js';

/** Options of `Repository.importRows`. */
export interface ImportRowsOptions {
  /** Default: `create`. Rows of `update` have the id of their record. */
  readonly mode?: ImportMode;
  /** The unique key by which `upsert` finds a record. Default: the attributes of ids. */
  readonly on?: readonly string[];
  /** False stores each thousand in a transaction of its own, without the rows that are refused. Default: true, all or none. */
  readonly atomic?: boolean;
}

/** Result of `Repository.importRows`. */
export interface ImportedRows {
  /** Rows of the source. */
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  /** Rows that are refused; 0 where all are stored or none. */
  readonly failed: number;
  /** The first 100 of them: the place in the source, from 1, and the error. */
  readonly errors: readonly { readonly row: number; readonly error: unknown }[];
}

/** Rows of an import, one after another. */
export type RowSource<M extends Model> =
  | Iterable<CreateValues<M> | UpdateValues<M>>
  | AsyncIterable<CreateValues<M> | UpdateValues<M>>;

/** A repository, as far as an import writes through it. */
interface ImportTarget<M extends Model> {
  readonly model: ModelClass<M>;
  create(values: CreateValues<M>): Promise<M>;
  update(id: Id, values: UpdateValues<M>): Promise<M>;
  lockKeys(filter: Predicate, limit: number): Promise<readonly unknown[]>;
}

/** Parts of it that are not public. */
interface ImportPlace {
  readonly info: ModelInfo;
  /** The transaction that the repository is bound to. */
  readonly bound: Transaction | null;
  /** True for a method that a subclass has not replaced. */
  isOurs(method: 'create' | 'update'): boolean;
  context(values?: WriteValues, kind?: 'create' | 'update'): Maybe<QueryContext>;
}

const OPTIONS: readonly (keyof ImportRowsOptions)[] = ['mode', 'on', 'atomic'];
const CHUNK = 1_000;
const MOST_ERRORS = 100;
const manyRows = perPair((info: ModelInfo) => new ManyRows(info));

interface Row {
  /** From 1. */
  readonly place: number;
  readonly values: WriteValues;
}

/** Stores the rows of a source. */
export async function importRecords<M extends Model>(
  target: ImportTarget<M>,
  place: ImportPlace,
  source: RowSource<M>,
  options: ImportRowsOptions,
): Promise<ImportedRows> {
  const [unknown] = unknownOptions('importRows', options, OPTIONS);
  if (unknown !== undefined) throw new TypeError(unknown);
  const { mode = 'create', atomic = true } = options;
  if (!IMPORT_MODES.includes(mode))
    throw new TypeError(`mode of importRows is ${showValue(mode)}; use ${IMPORT_MODES.join(', ')}.`);
  if (mode !== 'upsert' && options.on !== undefined)
    throw new TypeError(
      `importRows has on, which is for mode: 'upsert', and its mode is '${mode}'; leave it out.`,
    );
  const sequelize = target.model.sequelize as Sequelize;
  const current = joinableSession(sequelize, 'write');
  const isForeign = place.bound !== null && place.bound !== (await current?.begin());
  if (isForeign && !atomic)
    throw new TypeError(
      'importRows with atomic: false has to run inside the unit of work that its repository is of.',
    );
  const inSession = <T>(work: () => Promise<T>): Promise<T> => {
    if (isForeign) return work();
    if (current) return current.runPart(work);
    return new DatabaseSession(sequelize, currentSession(sequelize)?.isReadOnly ? 'read' : 'write').run(work);
  };
  const ownSession = () => (isForeign ? undefined : joinableSession(sequelize, 'write'));
  const attempt = <T>(work: () => Promise<T>): Promise<T> => {
    const session = ownSession();
    return session ? runInSavepoint(session, 'item', work) : work();
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => ownSession()?.runInTurn(work) ?? work();
  const code = codeOf(target, place, mode, options.on);
  const report = {
    rows: 0,
    created: 0,
    updated: 0,
    failed: 0,
    errors: [] as { row: number; error: unknown }[],
  };
  const count = (isNew: boolean) => {
    report[isNew ? 'created' : 'updated'] += 1;
  };
  const alone = async ({ place: row, values }: Row) => {
    const write = () => code.writeOne(values, ownSession());
    if (atomic) return count(await write());
    try {
      count(await attempt(write));
    } catch (error) {
      if (!isRowError(error)) throw error;
      report.failed += 1;
      if (report.errors.length < MOST_ERRORS) report.errors.push({ row, error });
    }
  };
  const together = async (rows: readonly Row[]): Promise<boolean> => {
    if (!code.isOpen()) return false;
    try {
      const created = await attempt(() => code.writeMany(rows.map(({ values }) => values)));
      created?.forEach(count);
      return created !== null;
    } catch (error) {
      if (isForeign || !isRowError(error)) throw error;
      return false;
    }
  };
  const store = (rows: readonly Row[]) => inHalves(rows, together, alone, code.isOpen);
  const storeAll = async () => {
    for await (const rows of chunksOf(source)) {
      report.rows += rows.length;
      await (atomic ? inTurn(() => store(rows)) : inSession(() => store(rows)));
    }
  };
  await (atomic ? inSession(storeAll) : storeAll());
  return report;
}

async function* chunksOf<M extends Model>(source: RowSource<M>): AsyncGenerator<readonly Row[]> {
  let chunk: Row[] = [];
  let place = 0;
  for await (const values of source) {
    place += 1;
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new TypeError(`Row ${place} of importRows is ${showValue(values)}; use an object of attributes.`);
    chunk.push({ place, values: values as WriteValues });
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** True where a row is refused, and another one may be stored. */
function isRowError(error: unknown): boolean {
  return (
    isRefusal(error) ||
    error instanceof ValidationError ||
    error instanceof PersistenceError ||
    error instanceof RefusedRequestError
  );
}

interface ModeCode {
  /** True where one statement may write many rows now. */
  isOpen(): boolean;
  /** Says of each row that it is new; null where one statement cannot write them, and nothing is written. */
  writeMany(rows: readonly WriteValues[]): Promise<readonly boolean[] | null>;
  writeOne(values: WriteValues, session: DatabaseSession | undefined): Promise<boolean>;
}

function codeOf<M extends Model>(
  target: ImportTarget<M>,
  { info: usual, isOurs, context }: ImportPlace,
  mode: ImportMode,
  on: readonly string[] | undefined,
): ModeCode {
  const { model } = target;
  const plain = model as unknown as ModelClass;
  const info = mode === 'upsert' && on ? keyedBy(usual, on) : usual;
  const { address, primaryKey } = info;
  if (mode !== 'create' && address.length === 0)
    throw new TypeError(`${info.name} has no primary key by which importRows could find a record.`);
  const text = address.length > 0 ? keyText(address) : null;
  const isOrdered = orderTest(info);
  const kinds = mode === 'upsert' ? (['create', 'update'] as const) : [mode];
  const isOpen = () =>
    !isOnSequelize() && kinds.every((kind) => isOurs(kind) && !isFollowed(plain, kind)) && rowsOf() !== null;
  const rowsOf = () => rowRecords(model, text);
  /** Values of a change, without those of the key. */
  const changesOf = (values: WriteValues) =>
    without(values, keyNames([...address, ...(mode === 'upsert' ? primaryKey : [])]));
  const keyOf = (values: WriteValues): Id => {
    const missing = keyNames(address).find((name) => (values[name] ?? null) === null);
    if (missing === undefined) return idOf(address, (name) => values[name]) as Id;
    throw new RefusedRequestError(
      422,
      `${missing} is a part of the key of ${info.name}, so that each row must have it${mode === 'upsert' && !on ? '; on names another key' : ''}.`,
    );
  };

  const insertOf = async (values: WriteValues) => {
    const { access } = await context(values, 'create');
    checkNewRow(values, info.name, access);
    return {
      access,
      operation: repositoryOperation(model, 'create', access, text, undefined, values) as InsertOperation,
    };
  };
  const updateOf = async (values: WriteValues) => {
    const changes = changesOf(values);
    const { access } = await context(changes, 'update');
    const set = changesWithin(changes, info.name, access);
    return {
      access,
      operation: repositoryOperation(model, 'update', access, text, undefined, set) as UpdateOperation,
    };
  };
  const writeMany = async (all: readonly WriteValues[]): Promise<readonly boolean[] | null> => {
    const records = rowsOf();
    if (!records || isOrdered(all, mode === 'create' ? [] : all)) return null;
    const isKeyed = (values: WriteValues) =>
      primaryKey.some(({ name }) => !isOfKey(address, name) && values[name] !== undefined);
    if (mode === 'upsert' && all.some(isKeyed)) return null;
    const inserts = mode === 'update' ? [] : await Promise.all(all.map(insertOf));
    const updates = mode === 'create' ? [] : await Promise.all(all.map(updateOf));
    const written = [...inserts, ...updates];
    if (!written.every(({ operation, access }) => records.canRun(operation) && !access.allowed)) return null;
    const keys = updates.map((_, index) => keyOf(all[index] as WriteValues));
    if (!keys.every((key) => records.takesKey(key))) return null;
    const accesses = written.map(({ access }) => access);
    const common = { ...referred(accesses), returning: COUNTED };
    const slots = slotsOf(accesses);
    const many = manyRows(info);
    const on = await ownTarget();
    const rows = inserts.map(({ operation }) => operation.row);
    if (mode === 'create') return (await many.insert({ rows, ...common }, slots, on)) && all.map(() => true);
    const { where, unseen } = (updates[0] as (typeof updates)[number]).operation;
    const change = {
      ...common,
      where: withoutId(where, address),
      unseen,
      items: updates.map(({ operation }, index): UpdateItem => ({ key: keys[index], values: operation.set })),
    };
    if (mode === 'update') return (await many.update(change, slots, on)) && all.map(() => false);
    const found = await many.upsert({ rows, ...change }, slots, on);
    return found?.rows.map((row) => row.at(-1) === 't') ?? null;
  };

  const ownTarget = async (): Promise<StatementTarget> => {
    const { transaction } = (await context()).scope;
    if (!transaction) throw new TypeError('An import has no transaction.');
    return statementRunner(model.sequelize as Sequelize).within(transaction);
  };
  const create = async (values: WriteValues) => {
    await target.create(values as CreateValues<M>);
    return true;
  };
  const change = async (id: Id, values: WriteValues) => {
    await target.update(id, changesOf(values) as UpdateValues<M>);
    return false;
  };
  /** The id of the record that has the values of the key, and of an id that the row has beside them. */
  const find = async (values: WriteValues): Promise<Id | undefined> => {
    const given = primaryKey.every(({ name }) => (values[name] ?? null) !== null);
    const parts = given ? [...new Set([...address, ...primaryKey])] : address;
    keyOf(values);
    const read = (key: typeof parts) =>
      partsOf(
        key,
        idOf(key, (name) => values[name]),
      ).map((value, index) => String(encodeParameter((key[index] as (typeof key)[number]).type, value)));
    const [found] = await target.lockKeys(allOf(withKeys(parts, [read(parts)])) as Predicate, 1);
    return found as Id | undefined;
  };
  const writeOne: ModeCode['writeOne'] = async (values, session) => {
    if (mode === 'create') return create(values);
    if (mode === 'update') return change(keyOf(values), values);
    return createOrChange<Id, boolean>(session, {
      find: () => find(values),
      create: () => create(values),
      change: (found) => change(found, values),
    });
  };
  return { isOpen, writeMany, writeOne };
}

/** The model with a unique key as its address. @throws TypeError where no unique index has exactly these attributes */
function keyedBy(info: ModelInfo, names: readonly string[]): ModelInfo {
  const model = info.model;
  if (!Array.isArray(names) || names.length === 0 || names.some((name) => !info.attributes.has(name)))
    throw new TypeError(
      `on of importRows is ${showValue(names)}; use attributes of ${info.name}, such as ['code'].`,
    );
  const keyed = describeAddressed(model, names.join(','));
  const columns = keyed.address.map(({ column }) => column);
  const declared = uniqueFields(model).map((fields) =>
    fields.map((field) => info.attributes.get(field)?.column ?? field),
  );
  const own = [info.primaryKey.map(({ column }) => column), ...declared];
  const facts = tableFacts(model);
  if (isUniqueKey({ uniqueKeys: facts ? facts.exactKeys : own }, columns)) return keyed;
  throw new TypeError(
    `on of importRows is ${showValue(names)}, and no unique index of ${info.name} is over exactly these; create one.`,
  );
}
