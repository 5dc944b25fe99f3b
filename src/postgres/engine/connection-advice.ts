/** The reason why PostgreSQL could not be connected to, and its fix. */
import { QUERY_TIMEOUT } from '../../errors/database-fault.js';
import { NoHostError, OtherServerError } from '../session/choose-host.js';
import { refusalAdvice } from './check-connections.js';
import type { PostgresAddress } from './connection-string.js';

interface Failure {
  readonly code?: string;
  readonly message?: string;
  /** Certificate of the server, where its name is wrong. */
  readonly cert?: { readonly subjectaltname?: string };
}

/**
 * A sentence without anything secret.
 *
 * @param error of Sequelize, or of one host after the other
 */
export function connectionAdvice(error: unknown, { server, shown }: PostgresAddress): string {
  const { hosts, database, user } = shown;
  const hasTls = Boolean(server.dialectOptions['ssl']);
  const as = `database '${database}', user '${user}'`;
  const failures = error instanceof NoHostError ? error.failures : [error];
  const reasons = failures.map((failure) => reasonOf(driverFailure(failure), hasTls));
  if (reasons.length === 1) return `PostgreSQL at ${hosts.join(', ')}, ${as}: ${reasons[0]}.`;
  const each = reasons.map((reason, at) => `at ${hosts[at]} ${reason}`);
  return `PostgreSQL at ${hosts.join(' or ')}, ${as}: ${each.join('; ')}.`;
}

/** Sequelize has the error of pg as the parent of its own. An error of the user's code may hold anything. */
function driverFailure(error: unknown): Failure {
  if (error instanceof OtherServerError) return error;
  return (error as { readonly parent?: Failure }).parent ?? {};
}

function reasonOf(failure: Failure, hasTls: boolean): string {
  const { code, message = '' } = failure;
  const known = code ?? (message || 'unknown');
  // pg has no code for it.
  if (message.includes('password must be a string')) return NO_PASSWORD;
  return (
    refusalAdvice(message) ?? tlsAdvice(failure, hasTls) ?? ADVICE[known] ?? `connecting failed (${known})`
  );
}

function tlsAdvice({ code = '', message = '', cert }: Failure, hasTls: boolean): string | undefined {
  if (message.includes('client certificate'))
    return 'the server asks for a certificate of the client; add sslcert=/path/cert.pem and sslkey=/path/key.pem to the DSN';
  if (!hasTls && (code === '28000' || ASKS_FOR_TLS.test(message))) return WITHOUT_TLS;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = cert?.subjectaltname ? `, and has ${cert.subjectaltname}` : '';
    return (
      `the certificate of the server does not have the name of this host${names}; connect by a name that it has, or check the ` +
      'authority alone with uselibpqcompat=true&sslmode=verify-ca&sslrootcert=/path/ca.pem in the DSN'
    );
  }
  return undefined;
}

/** Messages that require TLS, from PostgreSQL and from services in front of it. */
const ASKS_FOR_TLS = /sslmode=require|(?:SSL|TLS).*(?:is )?required|connection is insecure/i;

const WITHOUT_TLS =
  'the server refuses the user, or connections without TLS; where it takes TLS only, add sslmode=verify-full to the DSN';
const CUT = 'the connection was cut; is there a PostgreSQL at the port?';
const NO_PASSWORD =
  'the server asks for a password; write it into the DSN, percent-encoded, or set PGPASSWORD';
const NO_ADDRESS = 'the host has no address; correct its name';
const REFUSED = 'the server refuses the user or the password';
const SILENT = 'the server does not answer; correct the host and the port';
const SLOW = 'the server does not answer in time';
const UNTRUSTED =
  'the certificate of the server is of no authority that is trusted here; name the file of its authority with ' +
  'sslmode=verify-full&sslrootcert=/path/ca.pem in the DSN, or check no certificate with sslmode=no-verify';
const OTHER_TIME =
  'the certificate of the server is not valid at this time; renew it, or correct the clock of this machine';

/** A reason and a fix for each usual error, by SQLSTATE, system error, code of Node's TLS, or message. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start the server or correct the port',
  ENOENT: 'there is no such socket; start the server, or correct the folder or the port',
  EACCES: 'this account may not use the socket',
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
  ETIMEDOUT: SILENT,
  EHOSTUNREACH: SILENT,
  '28P01': REFUSED,
  '28000': REFUSED,
  '3D000': 'there is no such database; create it or correct its name',
  '53300': 'the server has no connection left',
  ECONNRESET: CUT,
  'Connection terminated unexpectedly': CUT,
  'timeout expired': SLOW,
  [QUERY_TIMEOUT]: SLOW,
  // https://nodejs.org/api/tls.html#x509-certificate-error-codes
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_UNTRUSTED: UNTRUSTED,
  CERT_HAS_EXPIRED: OTHER_TIME,
  CERT_NOT_YET_VALID: OTHER_TIME,
  'The server does not support SSL connections':
    'the server has no TLS; set ssl = on there, or write sslmode=disable in the DSN',
  'The server refuses writes':
    'it refuses writes, and target_session_attrs asks for a server that accepts them',
  'The server accepts writes':
    'it accepts writes, and target_session_attrs asks for a server that refuses them',
};
