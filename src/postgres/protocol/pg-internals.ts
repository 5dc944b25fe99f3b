/** Undocumented parts of pg that this package uses, and the versions that are tested with them. With any other one all queries are Sequelize's. */
import { Client } from 'pg';
import { isQueryTimeout } from '../../errors/database-fault.js';
import { missingFrom, withFields } from '../../util/missing-internal.js';
import type { TextRow, TextValues } from './batch.js';
import type { QueryTurns } from './pg-client.js';
import type { TextParser } from './prepared-statement.js';

/** pg as it is installed here. Bundlers follow a plain `require` only. */
const { version: PG_VERSION } = require('pg/package.json') as { version: string };

/** The versions that are tested: major, then the first and the last minor. */
export const TESTED_PG = { major: 8, first: 11, last: 23 } as const;

/** The first minor with `pipeline`. */
const PIPELINE_SINCE = 23;

interface DriverStream extends NodeJS.EventEmitter {
  cork(): void;
  uncork(): void;
  write(bytes: Buffer): unknown;
  destroy(error?: Error): void;
}

/** pg's view of the socket, as far as it is used here. It emits every message of the server. */
export interface DriverConnection extends NodeJS.EventEmitter {
  readonly stream: DriverStream;
  close(message: { type: 'S'; name: string }): void;
  parse(message: { name: string; text: string; types: readonly number[] }): void;
  bind(message: { statement: string; values: TextValues }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: object): void;
  sync(): void;
}

/** Result of the public interface with `rowMode: 'array'`. */
interface ArrayResult {
  readonly rows: readonly TextRow[];
  readonly rowCount: number | null;
}

/** A client of pg. */
export interface DriverClient {
  getTypeParser(oid: number, format: 'text'): TextParser;
  query(query: object, callback?: (error: Error | null, result?: ArrayResult) => void): unknown;
  readonly connection?: DriverConnection;
  readonly connectionParameters: { query_timeout?: number | false | undefined };
  /** Limit of a connection of the engine's own driver, which has no such parameter. */
  readonly queryTimeout?: number;
  /** Queue of the queries, where pg receives them one after the other. */
  readonly turns?: QueryTurns | null;
  /** True where the next query is sent before the last one is answered. */
  pipeline?: boolean;
  /** False where the connection is lost. */
  readonly _queryable?: boolean;
  /** True where the connection is being closed. */
  readonly _ending?: boolean;
  /** Queries that are to be sent, under the name of this version. */
  readonly _queryQueue?: object[];
  readonly queryQueue?: object[];
  _pulseQueryQueue?(): void;
  /** The query that is answered, under its name in this version. */
  _getActiveQuery?(): object | null;
  readonly activeQuery?: object | null;
  /** True where the connection is not used again. Sequelize's pools have the mark. */
  _invalid?: boolean;
}

/**
 * Marks a connection as broken: its query was abandoned and still runs on the server, or the server has ended the connection. Sequelize marks
 * connections with abandoned queries in the same way.
 */
export function markBroken(client: DriverClient, error: Error): void {
  const { severity } = error as { readonly severity?: string };
  if (isQueryTimeout(error) || severity === 'FATAL') client._invalid = true;
}

const CLIENT_FIELDS =
  'connection connectionParameters getTypeParser query _queryable _ending _pulseQueryQueue';
const CONNECTION_FIELDS = 'stream close parse bind describe execute sync on';
const STREAM_FIELDS = 'cork uncork write destroy listeners';

/** True where this version's connections may have several queries under way. */
export const HAS_PIPELINE = minorOf(PG_VERSION) >= PIPELINE_SINCE;

/** Why Sequelize alone uses pg as it is installed; undefined where it need not. Computed once. */
export function pgProblem(): string | undefined {
  known ??= { problem: versionProblem(PG_VERSION) ?? fieldProblem(PG_VERSION) };
  return known.problem;
}

let known: { readonly problem: string | undefined } | undefined;

/** Problem of a version of pg; undefined for one that is tested. */
export function versionProblem(version: string): string | undefined {
  const { major, first, last } = TESTED_PG;
  const minor = minorOf(version);
  if (version.startsWith(`${major}.`) && minor >= first && minor <= last) return undefined;
  return `pg ${version} is not one of the tested versions, ${major}.${first} to ${major}.${last}`;
}

/** Fields that a client, which connects to nothing, lacks. */
function fieldProblem(version: string): string | undefined {
  const missing = missingFrom('pg', version);
  try {
    const client = withFields(new Client() as object as DriverClient, 'Client', CLIENT_FIELDS, missing);
    const connection = withFields(
      client.connection as DriverConnection,
      'Connection',
      CONNECTION_FIELDS,
      missing,
    );
    withFields(connection.stream, 'Connection.stream', STREAM_FIELDS, missing);
    // A property of that name that is not its own leads to a queue under another one.
    if (!Object.hasOwn(client, '_queryQueue') && !Object.hasOwn(client, 'queryQueue'))
      missing('Client._queryQueue');
    if (HAS_PIPELINE) withFields(client, 'Client', 'pipeline', missing);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Code of pg's own method, which no wrapper has. */
const PG_OWN = /[qQ]ueryQueue\.push\(/;
/** Code that a tracer adds when it rewrites the method as it is loaded: Sentry does so. */
const PUBLISHES = /\.runStores\(/;

let judged: unknown;
let isWrapped = false;

/** True where a tracer wraps or rewrites pg's `Client.query`. It may come and go while the process runs. */
export function isTraced(): boolean {
  const { query } = Client.prototype;
  if (query !== judged) {
    judged = query;
    const code = Function.prototype.toString.call(query);
    isWrapped = !PG_OWN.test(code) || PUBLISHES.test(code);
  }
  return isWrapped;
}

/** Queries that a client is to send. */
export function queryQueueOf(client: DriverClient): object[] | undefined {
  // pg warns of the old name where there is a new one.
  return client._queryQueue ?? client.queryQueue;
}

/** The query that is answered. */
export function activeQueryOf(client: DriverClient): object | null | undefined {
  // pg warns of this old name, too.
  return client._getActiveQuery ? client._getActiveQuery() : client.activeQuery;
}

function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}
