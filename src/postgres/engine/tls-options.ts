/** TLS of connections: parameters of a connection string, libpq's environment, and the user's `dialectOptions.ssl`. */
import { readFileSync } from 'node:fs';
import { ConfigError } from '../../util/config-error.js';

/** Options for `tls.connect`, as pg takes them; false and undefined are no TLS. */
type TlsOptions = Readonly<Record<string, unknown>> | boolean | undefined;

/** Where a mode comes from, and its name there. */
interface Mode {
  readonly text: string;
  /** The option as the user has written it. */
  readonly written: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** By the parameter of the string, or its variable; the property that Node takes, and the beginning of such a file. */
const FILES = [
  ['sslrootcert', 'PGSSLROOTCERT', 'ca', /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/],
  ['sslcert', 'PGSSLCERT', 'cert', /-----BEGIN CERTIFICATE-----/],
  ['sslkey', 'PGSSLKEY', 'key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
] as const;
/** libpq's word for the authorities that the machine trusts. */
const SYSTEM = 'system';

/**
 * The options of a server. A connection string wins over the code, and that over the environment. Where both the string and the code
 * have an object, they are one.
 *
 * @param parameters those of the string
 * @param ofCode `dialectOptions.ssl`
 * @throws ConfigError for an unknown mode, and for a file that cannot be used
 */
export function tlsOptions(
  parameters: Readonly<Record<string, string>>,
  ofCode: unknown,
  environment: Environment,
): TlsOptions {
  const mode = modeOfString(parameters);
  const files = FILES.some(([parameter]) => parameters[parameter] !== undefined);
  if (mode || files) {
    const ofString = optionsOf(mode ?? { text: 'verify-full', written: 'sslmode' }, parameters, environment);
    if (ofString === false || typeof ofCode !== 'object') return ofString;
    return { ...ofString, ...ofCode };
  }
  // The user's own, which pg reads.
  if (ofCode !== undefined) return ofCode as TlsOptions;
  const { PGSSLMODE } = environment;
  return PGSSLMODE ? optionsOf(checked(PGSSLMODE, 'PGSSLMODE'), parameters, environment) : undefined;
}

/** A mode that is read as a stricter one: pg 8 does so, and the next version of it may not. */
export function modeAdvice(
  parameters: Readonly<Record<string, string>>,
  ofCode: unknown,
  environment: Environment,
): string | null {
  const { PGSSLMODE } = environment;
  const ofEnvironment = ofCode === undefined && PGSSLMODE ? checked(PGSSLMODE, 'PGSSLMODE') : null;
  const mode = modeOfString(parameters) ?? ofEnvironment;
  if (
    !mode ||
    isLibpqCompatible(parameters) ||
    !['allow', 'prefer', 'require', 'verify-ca'].includes(mode.text)
  )
    return null;
  return (
    `${mode.written}=${mode.text} is read as verify-full: PostgreSQL is reached by TLS only, and its certificate has to be for this ` +
    `host and of an authority that is trusted. Write ${mode.written}=verify-full, or ${mode.written}=no-verify to check no certificate.`
  );
}

function modeOfString({ sslmode, ssl }: Readonly<Record<string, string>>): Mode | null {
  if (sslmode !== undefined) return checked(sslmode, 'sslmode');
  if (ssl === undefined) return null;
  if (['true', '1'].includes(ssl)) return { text: 'verify-full', written: 'ssl' };
  return ['false', '0'].includes(ssl) ? { text: 'disable', written: 'ssl' } : checked(ssl, 'ssl');
}

function checked(text: string, written: string): Mode {
  if (MODES.includes(text)) return { text, written };
  throw new ConfigError([`${written} is '${text}'; use one of ${MODES.join(', ')}.`]);
}

function optionsOf(
  mode: Mode,
  parameters: Readonly<Record<string, string>>,
  environment: Environment,
): Readonly<Record<string, unknown>> | false {
  if (mode.text === 'disable') return false;
  const files = Object.fromEntries(
    FILES.flatMap(([parameter, variable, property, pattern]) => {
      const ofString = parameters[parameter];
      const path = ofString ?? environment[variable];
      const written = ofString === undefined ? variable : parameter;
      return path && path !== SYSTEM ? [[property, readPem(path, written, pattern)]] : [];
    }),
  );
  const { sslpassword } = parameters;
  const all = { ...files, ...(sslpassword === undefined ? {} : { passphrase: sslpassword }) };
  if (mode.text === 'no-verify') return { ...all, rejectUnauthorized: false };
  return isLibpqCompatible(parameters) ? { ...all, ...asLibpq(mode, 'ca' in files) } : all;
}

/** The checks of libpq, which are fewer. https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION */
function asLibpq({ text: mode, written }: Mode, hasAuthority: boolean): Readonly<Record<string, unknown>> {
  if (mode === 'verify-full') return {};
  if (mode === 'verify-ca' && !hasAuthority)
    throw new ConfigError([
      `${written}=verify-ca checks no name; add sslrootcert with the authority to trust.`,
    ]);
  const checksAuthority = hasAuthority && ['require', 'verify-ca'].includes(mode);
  return checksAuthority ? { checkServerIdentity: () => undefined } : { rejectUnauthorized: false };
}

/** pg's own parameter. */
function isLibpqCompatible({ uselibpqcompat }: Readonly<Record<string, string>>): boolean {
  return uselibpqcompat === 'true';
}

function readPem(path: string, written: string, pattern: RegExp): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([`${written} is '${path}', which cannot be read (${code}); correct the path.`]);
  }
  if (pattern.test(text)) return text;
  throw new ConfigError([`${written} is '${path}', which is no PEM file of its kind; correct the path.`]);
}
