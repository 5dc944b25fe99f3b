/**
 * Connection strings of PostgreSQL, read as libpq's users write them: percent-encoded parts, sockets, several hosts, and the
 * variables of the environment for the parts that a string leaves out. https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
import { isIPv6 } from 'node:net';
import { ConfigError } from '../../util/config-error.js';
import { didYouMean } from '../../util/option-problems.js';
import { without } from '../../util/without.js';
import { type HostedServer, isSessionAttributes, SESSION_ATTRIBUTES } from '../session/choose-host.js';
import { unsetProblem, urlProblem } from './connection-url.js';
import { NO_LIMIT, readLimits } from './limits.js';
import { modeAdvice, tlsOptions } from './tls-options.js';

/** Where to connect, and as whom. */
export interface PostgresAddress {
  readonly server: HostedServer & { readonly dialectOptions: Readonly<Record<string, unknown>> };
  /** Parts for errors: the hosts in their order, the database and the user. */
  readonly shown: { readonly hosts: readonly string[]; readonly database: string; readonly user: string };
  /** Changes of the string that a warning names. */
  readonly advice: readonly string[];
}

/** Values for parts that a string leaves out. */
export interface AddressDefaults {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly database?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly dialectOptions?: Readonly<Record<string, unknown>> | undefined;
  /** True for a server of reads: `PGTARGETSESSIONATTRS` is about the one that is written to. */
  readonly isReplica?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const EXAMPLE = 'one such as postgres://user:password@host:5432/database';
const DEFAULT_HOST = 'localhost';
const DEFAULT_PORT = '5432';
const PORTS = 'use a number from 1 to 65535';

const HOST = String.raw`(?:\[[\da-f:.]+\]|(?:[\p{L}\p{N}._-]|%[\da-f]{2})*)(?::\d*)?`;
/**
 * Strings that every parser reads in the same way: one `@` at most. With a raw `@`, `/`, `?` or `#` a part of the
 * password would become the host or the database, which errors name.
 */
const CERTAIN = new RegExp(
  String.raw`^[a-z][a-z0-9+.-]*://(?:(?<user>[^\s@/?#\\:]*)(?::(?<password>[^\s@/?#\\]*))?@)?(?<hosts>${HOST}(?:,${HOST})*)` +
    String.raw`(?:/(?<path>[^\s@?#\\]*))?(?:\?(?<query>[^\s@#\\]*))?$`,
  'iu',
);

/** Parameters that are a part of the address. The others are options of the connection. */
const PARTS = ['host', 'port', 'dbname', 'user', 'password', 'target_session_attrs', 'connect_timeout'];
/** Parameters that libpq reads, and this package does not: without them, connections would reach another server. */
const NOT_READ = { hostaddr: 'host', service: 'host, port, user and dbname' };
/** Parameters without which connections would have no TLS, or lead to another server: a misspelt one is refused. */
const GUARDED = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs'];
/** Parameters of libpq and of other clients with names near to these. */
const NEAR = ['sslcrl', 'sslsni', 'sslcertmode', 'sslaccept'];

/**
 * Reads a string. A part that it leaves out has the value of the code, or else that of the environment.
 *
 * @throws ConfigError where it is none, or cannot be read for certain; the message holds no part that may be secret
 */
export function readConnectionString(
  text: string | undefined,
  defaults: AddressDefaults = {},
  environment: Environment = process.env,
): PostgresAddress {
  const { user, password, hosts = '', path, query } = matchCertain(text);
  // A parameter without a value is left out. To libpq a plus is no space.
  const written = new URLSearchParams(query?.replaceAll('+', '%2B'));
  const parameters = Object.fromEntries([...written].filter(([, value]) => value !== ''));
  for (const [name, instead] of Object.entries(NOT_READ)) {
    if (name in parameters) throw problem(`has the parameter ${name}, which is not read; use ${instead}.`);
  }
  for (const name of Object.keys(without(parameters, [...GUARDED, ...NEAR, ...PARTS]))) {
    const hint = didYouMean(name, GUARDED);
    if (hint) throw problem(`has the parameter ${name}, which is not read.${hint}`);
  }
  if (environment['PGHOSTADDR'])
    throw new ConfigError([
      'PGHOSTADDR is set, which is not read; unset it, and use the address as the host.',
    ]);
  const username =
    parameters['user'] ?? (decoded(user) || defaults.username || ofEnvironment(environment, 'PGUSER'));
  const database =
    parameters['dbname'] ?? (decoded(path) || defaults.database || ofEnvironment(environment, 'PGDATABASE'));
  const secret =
    parameters['password'] ?? (decoded(password) || defaults.password || environment['PGPASSWORD']);
  const places = placesOf(hosts, parameters, defaults, environment);
  const [first] = places;
  const attributes = sessionAttributesOf(parameters, defaults.isReplica ? {} : environment);
  const { ssl: sslOfCode, ...options } = { ...optionsOf(environment), ...defaults.dialectOptions };
  const isSocket = places.every(({ host }) => host.startsWith('/'));
  // PostgreSQL has no TLS there.
  const ssl = isSocket ? false : tlsOptions(parameters, sslOfCode, environment);
  return {
    server: {
      host: first.host,
      port: first.port,
      ...(database ? { database } : {}),
      ...(username ? { username } : {}),
      ...(secret ? { password: secret } : {}),
      ...(places.length > 1 || attributes !== 'any'
        ? { hosts: places.map(({ host, port }) => ({ host, port })), sessionAttributes: attributes }
        : {}),
      dialectOptions: {
        ...options,
        ...readLimits(options, 'dialectOptions.'),
        ...timeoutOf('connect_timeout', parameters['connect_timeout']),
        ...without(parameters, PARTS),
        ...readLimits(parameters),
        ...(ssl === undefined ? {} : { ssl }),
      },
    },
    shown: { hosts: places.map(({ shown }) => shown), database: database ?? '', user: username ?? '' },
    advice: adviceOf(
      defaults.isReplica ? 1 : places.length,
      attributes,
      isSocket ? null : modeAdvice(parameters, sslOfCode, environment),
    ),
  };
}

const DSN = 'The DSN';

function problem(end: string): ConfigError {
  return new ConfigError([`${DSN} ${end}`]);
}

/** The value of a part that the string and the code leave out. libpq would have it of the service. */
function ofEnvironment(environment: Environment, variable: string): string | undefined {
  if (environment['PGSERVICE'])
    throw new ConfigError([
      `PGSERVICE is set, which is not read; unset it, or write ${NOT_READ.service} in the DSN.`,
    ]);
  return environment[variable];
}

/** Names of the parts of a string, for people. */
const NAMES: Readonly<Record<string, string>> = {
  user: 'user',
  password: 'password',
  hosts: 'host',
  path: 'database',
  query: 'parameters',
};

function matchCertain(text: string | undefined): Partial<Record<string, string>> {
  const unset = unsetProblem(text, EXAMPLE);
  if (unset !== null) throw problem(unset);
  if (typeof text !== 'string') throw problem(`is ${typeof text}; use ${EXAMPLE}.`);
  const found = urlProblem(text, ['postgres:', 'postgresql:'], EXAMPLE, (each) => CERTAIN.test(each));
  if (found !== null) throw problem(found);
  const parts = CERTAIN.exec(text)?.groups ?? {};
  const [name] = Object.entries(parts).find(([, part]) => part === 'undefined') ?? [];
  if (name !== undefined)
    throw problem(
      `has 'undefined' as its ${NAMES[name]}: an environment variable that it is made of is not set.`,
    );
  return parts;
}

function decoded(part: string | undefined): string {
  return part === undefined ? '' : decodeURIComponent(part);
}

/** A host, its port, and both as they are shown: with the port where the user has written one. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly shown: string;
}

function placesOf(
  text: string,
  parameters: Readonly<Record<string, string>>,
  defaults: AddressDefaults,
  environment: Environment,
): readonly [Place, ...Place[]] {
  const written = text.split(',').map((each) => /^(.*?)(?::(\d*))?$/.exec(each) ?? ['', '', '']);
  const ofText = written.map(([, host = '']) => decoded(host.replace(/^\[(.*)\]$/, '$1')));
  const isOfText = parameters['host'] === undefined && ofText.some(Boolean);
  const host = isOfText
    ? { text: undefined, source: DSN }
    : partOf('host', parameters['host'], defaults.host, environment);
  const hosts = host.text?.split(',') ?? ofText;
  const portsOfText = parameters['host'] === undefined ? written.map(([, , port = '']) => port) : [];
  const portOfText = portsOfText.some(Boolean) ? portsOfText.join() : undefined;
  const port = partOf('port', parameters['port'] ?? portOfText, defaults.port, environment);
  const ports = port.text?.split(',') ?? [''];
  if (ports.length > 1 && ports.length !== hosts.length) {
    const other = port.source === host.source ? '' : `${port.source.replace(/^The/, 'the')} `;
    throw new ConfigError([
      `${host.source} has ${hosts.length} hosts and ${other}${ports.length} ports; use one port for each host.`,
    ]);
  }
  return hosts.map((name, at) => {
    const given = (ports.length > 1 ? ports[at] : ports[0]) ?? '';
    return placeOf({ text: name || DEFAULT_HOST, source: host.source }, { ...port, text: given });
    // A text that is split has one part at least.
  }) as unknown as readonly [Place, ...Place[]];
}

/** A part of an address, and its source, which is the subject of a sentence. */
interface Part {
  readonly text: string | undefined;
  readonly source: string;
}

function partOf(
  name: 'host' | 'port',
  ofString: string | undefined,
  ofCode: string | number | undefined,
  environment: Environment,
): Part {
  if (ofString !== undefined) return { text: ofString, source: DSN };
  if (ofCode !== undefined && ofCode !== '')
    return { text: String(ofCode), source: `The engine option ${name}` };
  const variable = `PG${name.toUpperCase()}`;
  const text = ofEnvironment(environment, variable) || undefined;
  return { text, source: text === undefined ? DSN : variable };
}

function placeOf(
  { text: host, source }: Part & { readonly text: string },
  { text: given = '', source: ofPort }: Part,
): Place {
  const port = Number(given || DEFAULT_PORT);
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    throw new ConfigError([`${ofPort} has the port '${given}'; ${PORTS}.`]);
  const isSocket = host.startsWith('/');
  const isAddress = !isSocket && host.includes(':');
  if (isAddress && !isIPv6(host))
    throw source === DSN
      ? problem(`cannot be read for certain; use ${EXAMPLE}.`)
      : new ConfigError([`${source} has the host '${host}'; use a name or an address, and its port apart.`]);
  const name = isAddress ? `[${host}]` : host;
  return { host, port, shown: given === '' || isSocket ? name : `${name}:${given}` };
}

function sessionAttributesOf(parameters: Readonly<Record<string, string>>, environment: Environment) {
  const { target_session_attrs: ofString } = parameters;
  const asked = ofString ?? (environment['PGTARGETSESSIONATTRS'] || 'any');
  if (isSessionAttributes(asked)) return asked;
  const name = ofString === undefined ? 'PGTARGETSESSIONATTRS' : 'target_session_attrs';
  throw new ConfigError([`${name} is '${asked}'; use one of ${SESSION_ATTRIBUTES.join(', ')}.`]);
}

/** Options that pg reads from the environment only where the code has none. */
function optionsOf({ PGOPTIONS, PGCONNECT_TIMEOUT }: Environment): Record<string, unknown> {
  return {
    ...(PGOPTIONS ? { options: PGOPTIONS } : {}),
    ...timeoutOf('PGCONNECT_TIMEOUT', PGCONNECT_TIMEOUT || undefined),
  };
}

/** Seconds, as libpq has them; 0 for no limit. */
function timeoutOf(name: string, seconds: string | undefined): { connectionTimeoutMillis?: number } {
  if (seconds === undefined) return {};
  if (!/^-?\d+$/.test(seconds)) throw new ConfigError([`${name} is '${seconds}'; use a number of seconds.`]);
  return { connectionTimeoutMillis: Math.min(Math.max(Number(seconds), 0) * 1_000, NO_LIMIT) };
}

function adviceOf(hosts: number, attributes: string, ofMode: string | null): readonly string[] {
  const ofHosts =
    hosts > 1 && attributes === 'any'
      ? `There are ${hosts} hosts, and connections may lead to a standby, which refuses writes; add target_session_attrs=read-write.`
      : null;
  return [ofMode, ofHosts].filter((text) => text !== null);
}
