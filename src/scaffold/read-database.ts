/** Reads the tables of a database from its catalogue, in one statement that reads no row of data. */
import { Client } from 'pg';
import {
  connectionAdvice,
  NoHostError,
  type PostgresAddress,
  readConnectionString,
} from '../postgres/index.js';
import { ConfigError, throwProblems } from '../util/config-error.js';
import { didYouMean } from '../util/option-problems.js';
import { CATALOGUE, type CatalogueRow, SETTINGS } from './catalogue-statement.js';
import { describeTables } from './describe-tables.js';
import type { DatabaseSchema } from './model-plan.js';
import { keyOf } from './name-choices.js';

interface TableChoice {
  /** Names of schemas. Default: all but those of the system. */
  readonly schemas?: readonly string[] | undefined;
  /** Patterns such as `order*`, `!*_old` and `shop.*`. Default: all. */
  readonly tables?: readonly string[] | undefined;
}

/** Milliseconds, where neither the address nor the environment has others. */
const CONNECT_TIMEOUT = 10_000;

/**
 * Reads the catalogue, in a transaction that can only read.
 *
 * @throws ConfigError where the address is none, leads to no database, or the role lacks the right to read a schema or anything at all
 */
export async function readDatabase(url: string, choice: TableChoice = {}): Promise<DatabaseSchema> {
  const patterns = parsePatterns(choice.tables);
  const catalogue = await readCatalogue(url);
  throwProblems(schemaProblems(catalogue, choice.schemas));
  const { schemas } = choice;
  const ofSchemas = (catalogue.tables ?? []).filter(({ schema }) => schemas?.includes(schema) ?? true);
  throwProblems(patternProblems(patterns, ofSchemas));
  const chosen = ofSchemas.filter((table) => isChosen(table, patterns));
  if (chosen.length === 0 && ofSchemas.length > 0)
    throw new ConfigError([
      `The patterns '${choice.tables?.join()}' leave no table or view; use '!' for those that are left out.`,
    ]);
  const described = describeTables({ ...catalogue, tables: chosen });
  if (described.tables.length > 0) {
    const names = new Set(described.tables.map(keyOf));
    return {
      ...described,
      otherTables: (catalogue.tables ?? []).map(keyOf).filter((key) => !names.has(key)),
    };
  }
  const rights = described.leftOut.map(({ construct, reason }) => `${construct}: ${reason}`);
  const where = schemas
    ? `The schemas ${schemas.join(', ')} of '${catalogue.database}' have`
    : `The database '${catalogue.database}' has`;
  throw new ConfigError(
    rights.length > 0
      ? [`${where} no table or view that the role ${catalogue.role} may read.`, ...rights]
      : [`${where} no table or view; create them, or name another database.`],
  );
}

async function readCatalogue(url: string): Promise<CatalogueRow> {
  const address = readConnectionString(url);
  const client = await connect(address);
  try {
    await client.query('BEGIN TRANSACTION READ ONLY');
    await client.query(SETTINGS);
    const { rows } = await client.query<{ catalogue: string }>(CATALOGUE);
    return JSON.parse(rows[0]?.catalogue ?? '{}');
  } catch (error) {
    throw new ConfigError([readingProblem(error, address)]);
  } finally {
    // It is not there any more where the connection was lost.
    await client.end().catch(() => {});
  }
}

/** Connects to the first host that lets it. */
async function connect(address: PostgresAddress): Promise<Client> {
  const {
    host,
    port,
    hosts = [{ host, port }],
    database,
    username,
    password,
    dialectOptions,
  } = address.server;
  const failures: unknown[] = [];
  for (const each of hosts) {
    const client = new Client({
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      ...dialectOptions,
      ...(each.host === undefined ? {} : { host: each.host }),
      ...(each.port === undefined ? {} : { port: Number(each.port) }),
      ...(database === undefined ? {} : { database }),
      ...(username === undefined ? {} : { user: username }),
      ...(password === undefined ? {} : { password }),
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      failures.push({ parent: error });
      await client.end().catch(() => {});
    }
  }
  throw new ConfigError([connectionAdvice(new NoHostError(failures), address)]);
}

/** Errors of pg name users and tables, and no password. */
function readingProblem(error: unknown, { shown: { hosts, database } }: PostgresAddress): string {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  const server = `PostgreSQL at ${hosts.join(' or ')}`;
  if (code === '55P03')
    return `${server} has a table of '${database}' that another transaction has locked for more than 2 s, such as a migration; run the command again when it has ended.`;
  return `${server} does not let the catalogue of '${database}' be read: ${message}.`;
}

function schemaProblems({ role, schemas }: CatalogueRow, wanted: readonly string[] = []): string[] {
  return wanted.flatMap((name) => {
    const found = schemas.find((each) => each.name === name);
    if (!found) {
      const names = schemas.map((each) => each.name);
      return [
        `There is no schema '${name}'.${didYouMean(name, names) || ` The database has ${names.join(', ') || 'none'}.`}`,
      ];
    }
    return found.isUsable
      ? []
      : [
          `The role ${role} may not use the schema '${name}'; write GRANT USAGE ON SCHEMA ${found.sql} TO ${role};`,
        ];
  });
}

interface Pattern {
  readonly text: string;
  readonly isExclusion: boolean;
  /** True for a table by its name, and for that with the schema. */
  matches(table: { readonly schema: string; readonly name: string }): boolean;
}

function parsePatterns(texts: readonly string[] = []): Pattern[] {
  throwProblems(
    texts.some((text) => /^!?\s*$/.test(text))
      ? [`A pattern of tables is empty; use ones such as 'order*' and '!*_old'.`]
      : [],
  );
  return texts.map((text) => {
    const isExclusion = text.startsWith('!');
    const plain = isExclusion ? text.slice(1) : text;
    const source = plain.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replaceAll('*', '.*');
    const pattern = new RegExp(`^(?:${source})$`, 'su');
    return {
      text,
      isExclusion,
      matches: ({ schema, name }) => pattern.test(name) || pattern.test(`${schema}.${name}`),
    };
  });
}

function isChosen(
  table: { readonly schema: string; readonly name: string },
  patterns: readonly Pattern[],
): boolean {
  const wanted = patterns.filter(({ isExclusion }) => !isExclusion);
  const isExcluded = patterns.some((each) => each.isExclusion && each.matches(table));
  return !isExcluded && (wanted.length === 0 || wanted.some((each) => each.matches(table)));
}

function patternProblems(
  patterns: readonly Pattern[],
  tables: readonly { readonly schema: string; readonly name: string }[],
): string[] {
  const names = tables.flatMap(({ schema, name }) => [name, `${schema}.${name}`]);
  return patterns
    .filter((pattern) => !tables.some((table) => pattern.matches(table)))
    .map(
      ({ text }) =>
        `The pattern '${text}' matches no table or view.${didYouMean(text.replace(/^!/, ''), names)}`,
    );
}
