/** Connects to one of several hosts, as libpq does: to the first in order that can be reached and has the wanted session. */
import { ConnectionError, type Sequelize } from 'sequelize';
import { connectionManager, type ServerConfig } from './connection-internals.js';

/** Values of `target_session_attrs` of a connection string: the wanted session. */
export const SESSION_ATTRIBUTES = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

/** True for a value of `SESSION_ATTRIBUTES`. */
export function isSessionAttributes(text: string): text is SessionAttributes {
  return (SESSION_ATTRIBUTES as readonly string[]).includes(text);
}

interface Host {
  readonly host: string;
  readonly port: number;
}

/** A server that may be one of several. Sequelize passes on options that are none of its own. */
export interface HostedServer extends ServerConfig {
  readonly hosts?: readonly Host[];
  readonly sessionAttributes?: SessionAttributes;
}

interface Connection {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
  end?(): Promise<unknown>;
}

/** Milliseconds for which a host that failed comes after the others. */
const PAUSE = 10_000;
/** Option that an engine sends for its connections for reads. */
const READ_ONLY_OPTION = 'default_transaction_read_only=on';
const STATE = `
  SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only') = 'on' AS "isReadOnly"`;

/** A server answers, and is another one than is wanted. */
export class OtherServerError extends Error {}

/** The error where none of several hosts could be used. For a single host it is Sequelize's own. */
export class NoHostError extends ConnectionError {
  /** Failures, in the order of the hosts. */
  readonly failures: readonly unknown[];

  constructor(failures: readonly unknown[]) {
    super(failures.find((failure) => failure instanceof Error) ?? new Error('There is no host'));
    this.failures = failures;
  }
}

/** Makes an instance choose among the hosts of a server. */
export function chooseHosts(sequelize: Sequelize): void {
  const manager = connectionManager<Connection>(sequelize);
  const connect = manager._connect.bind(manager);
  const failedAt = new Map<Host, number>();
  const isPaused = (host: Host) => performance.now() - (failedAt.get(host) ?? -PAUSE) < PAUSE;

  async function connectTo(server: HostedServer, host: Host, wanted: SessionAttributes): Promise<Connection> {
    const client = await connect({ ...server, ...host });
    try {
      await expectSession(client, server, wanted);
      return client;
    } catch (error) {
      // It is in no pool yet, so no other code would close it.
      client.end?.().catch(() => {});
      throw error;
    }
  }

  async function connectToFirst(server: HostedServer, wanted: SessionAttributes): Promise<Connection> {
    const { hosts = [] } = server;
    const failures = new Map<Host, unknown>();
    for (const host of [...hosts].sort((one, other) => Number(isPaused(one)) - Number(isPaused(other)))) {
      try {
        const client = await connectTo(server, host, wanted);
        failedAt.delete(host);
        return client;
      } catch (error) {
        // All hosts would refuse the same user.
        if (isRefusal(error)) throw error;
        failedAt.set(host, performance.now());
        failures.set(host, error);
      }
    }
    throw new NoHostError(hosts.map((host) => failures.get(host)));
  }

  manager._connect = async (server: HostedServer) => {
    const { hosts, sessionAttributes = 'any' } = server;
    if (!hosts) return connect(server);
    if (sessionAttributes !== 'prefer-standby') return connectToFirst(server, sessionAttributes);
    return connectToFirst(server, 'standby').catch((error: unknown) => {
      if (error instanceof NoHostError) return connectToFirst(server, 'any');
      throw error;
    });
  };
}

/**
 * Checks the state of a server where it matters.
 *
 * @throws OtherServerError where its sessions are others than those that are wanted
 */
export async function expectSession(
  client: Pick<Connection, 'query'>,
  { dialectOptions = {} }: HostedServer,
  wanted: SessionAttributes,
): Promise<void> {
  if (wanted === 'any' || wanted === 'prefer-standby') return;
  const { rows } = await client.query(STATE);
  const { isStandby, isReadOnly } = rows[0] as { isStandby: boolean; isReadOnly: boolean };
  const isOwnWish = String(dialectOptions['options']).includes(READ_ONLY_OPTION);
  const refusesWrites = isStandby || (isReadOnly && !isOwnWish);
  if ((wanted === 'primary' && isStandby) || (wanted === 'read-write' && refusesWrites))
    throw new OtherServerError('The server refuses writes');
  if ((wanted === 'standby' && !isStandby) || (wanted === 'read-only' && !refusesWrites))
    throw new OtherServerError('The server accepts writes');
}

/** True where the server has refused the user, the password or the database. */
function isRefusal(error: unknown): boolean {
  const { code } = (error as { readonly parent?: { readonly code?: unknown } }).parent ?? {};
  return typeof code === 'string' && (code.startsWith('28') || code === '3D000');
}
