/** Untyped fields of Sequelize's connections and transactions. An accessor throws where one is missing. */
import type { Sequelize, Transaction } from 'sequelize';
import { SEQUELIZE_VERSION } from '../../describe/sequelize-internals.js';
import { keptIn } from '../../util/memo.js';
import { missingFrom, withFields } from '../../util/missing-internal.js';
import type { DriverClient } from '../protocol/pg-internals.js';

const missing = missingFrom('Sequelize', SEQUELIZE_VERSION);

/** One pool of connections. */
export interface Pool<Client> {
  readonly size: number;
  readonly maxSize: number;
  /** Number of connections in use. */
  readonly using: number;
  /** Number of callers that wait for a connection. */
  readonly waiting: number;
  readonly acquireTimeoutMillis: number;
  /** After so many uses a connection is closed. */
  readonly maxUsesPerResource: number;
  /** True while the pool closes. */
  readonly _draining: boolean;
  readonly _availableObjects: { readonly resource: Client }[];
  readonly _inUseObjects: readonly { readonly resource: Client }[];
  readonly _factory: { create(): Promise<Client>; validate(client: Client): boolean };
  acquire(): Promise<Client>;
  _createResource(): void;
  /** Lends the last available connection to the first who waits, or opens a connection. */
  _dispense(): void;
}

/** A server, as Sequelize is configured to reach it. */
export interface ServerConfig {
  readonly host?: string;
  readonly port?: number | string;
  readonly database?: string;
  readonly username?: string;
  readonly password?: string;
  readonly dialectOptions?: Readonly<Record<string, unknown>>;
}

/** Connection manager of an instance. It has two pools where there are servers for reads. */
export interface ConnectionManager<Client> {
  readonly lib: object;
  readonly pool: (Pool<Client> | { readonly read: Pool<Client>; readonly write: Pool<Client> }) & {
    destroy(client: Client): unknown;
  };
  readonly config: ServerConfig & {
    readonly pool: { readonly max: number; validate(client: Client): boolean };
    readonly replication?:
      | { readonly write: ServerConfig; readonly read: readonly ServerConfig[] }
      | false
      | null;
  };
  connect(settings: ServerConfig): Promise<Client>;
  /** True where a connection may be used again; pools call it. */
  validate(client: Client): boolean;
  _connect(settings: ServerConfig): Promise<Client>;
  getConnection(options: { readonly type: string; readonly useMaster: boolean }): Promise<Client>;
  releaseConnection(client: Client): void;
}

/** The connection manager of an instance. */
export function connectionManager<Client>(sequelize: Sequelize): ConnectionManager<Client> {
  const manager = sequelize.connectionManager as object as ConnectionManager<Client>;
  const { read, write } = poolsOf(withFields(manager, 'ConnectionManager', MANAGER_FIELDS, missing));
  for (const pool of [read, write]) withFields(pool, 'Pool', POOL_FIELDS, missing);
  return manager;
}

/** The same, for fields that can be missing; undefined where a field is missing. */
export function knownManager<Client>(sequelize: Sequelize): ConnectionManager<Client> | undefined {
  try {
    return connectionManager(sequelize);
  } catch {
    return undefined;
  }
}

/** Fields that the connection manager of every Sequelize has. */
type PlainManager<Client> = Pick<ConnectionManager<Client>, 'config' | 'getConnection' | 'releaseConnection'>;

/** Connection manager of an instance, with no check of its other fields. */
export function plainManager<Client>({ connectionManager: manager }: Sequelize): PlainManager<Client> {
  return withFields(manager as object as PlainManager<Client>, 'ConnectionManager', 'config', missing);
}

const READ_SERVERS = new WeakMap<Sequelize, number>();

/** Number of servers that answer the reads of an instance. */
export function readServers(sequelize: Sequelize): number {
  return keptIn(READ_SERVERS, sequelize, () => {
    const { replication } = plainManager(sequelize).config;
    return replication ? replication.read.length : 1;
  });
}

/** The pools for reads and for writes, which may be one. */
export function poolsOf<Client>({ pool }: ConnectionManager<Client>) {
  return 'read' in pool ? pool : { read: pool, write: pool };
}

const MANAGER_FIELDS = 'lib pool config connect validate _connect getConnection releaseConnection';
const POOL_FIELDS =
  'size maxSize using waiting acquireTimeoutMillis maxUsesPerResource _draining _availableObjects ' +
  '_inUseObjects _factory _createResource _dispense';

/** A connection, as Sequelize marks it. */
export interface MarkedClient {
  /** True where the connection was lost, or has an abandoned query. Pools do not use it again. */
  _invalid?: boolean;
  uuid?: string | undefined;
}

/** A connection of one of Sequelize's pools. */
export type PooledClient = DriverClient & MarkedClient;

/** State of a transaction that shows if it goes on. */
export interface TransactionState<Client> {
  readonly id: string;
  /** End of the transaction. */
  readonly finished?: 'commit' | 'rollback' | undefined;
  /** Connection of the transaction; undefined before it has begun. */
  readonly connection?: Client | undefined;
}

interface TransactionInternals<Client> extends TransactionState<Client> {
  readonly sequelize: Sequelize;
  readonly options: object;
  /** Of a savepoint. */
  readonly name?: string;
  readonly _afterCommitHooks: ((transaction: unknown) => unknown)[];
  cleanup(): void;
  forceCleanup(): Promise<void>;
}

/** Internals that end a transaction; undefined where one is missing, so that only Sequelize can end it. */
export function transactionInternals<Client>(
  transaction: Transaction,
): TransactionInternals<Client> | undefined {
  const internals = transaction as object as TransactionInternals<Client>;
  return TRANSACTION_FIELDS.every((field) => field in internals) ? internals : undefined;
}

const TRANSACTION_FIELDS = ['sequelize', 'options', '_afterCommitHooks', 'cleanup', 'forceCleanup'];

/** State of a transaction, with its connection; to be read at each use. */
export function transactionState<Client>(transaction: Transaction): TransactionState<Client> {
  return transaction as object as TransactionState<Client>;
}

/** The connection of a transaction that has begun. */
export function connectionOf<Client>(transaction: Transaction): Client {
  return (transaction as { connection?: Client }).connection ?? missing('Transaction.connection');
}

/** Runs the user's hooks before a connection, which may provide the password. */
export function runConnectHooks(sequelize: Sequelize, settings: ServerConfig): Promise<unknown> {
  const { runHooks } = sequelize as { runHooks?: (name: string, settings: object) => Promise<unknown> };
  return (runHooks ?? missing('Sequelize.runHooks')).call(sequelize, 'beforeConnect', settings);
}
