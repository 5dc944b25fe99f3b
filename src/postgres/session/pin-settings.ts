/**
 * Pins the settings that change which texts PostgreSQL writes, or how it reads ours, on each connection of a Sequelize
 * instance. A role or a database may have other values, with which dates become null and floats lose digits. `TimeZone` is not
 * among them: Sequelize sets it by its option `timezone`, and moments are read with their offset.
 */
import type { Sequelize } from 'sequelize';
import { instanceOptions } from '../../describe/sequelize-internals.js';
import { takeTurns } from '../protocol/pg-client.js';
import { type ConnectionManager, knownManager } from './connection-internals.js';
import { type ParsingClient, parseExactly } from './exact-parsers.js';

/** A client of the driver; Sequelize sends its own settings the same way. */
interface Connection extends ParsingClient {
  query(text: string): Promise<unknown>;
  end?(): unknown;
}

/** The order of day and month of `DateStyle` stays as it is: our dates begin with the year. */
const PINNED: Readonly<Record<string, string>> = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  xmloption: 'content',
  quote_all_identifiers: 'off',
};

const SET_PINNED = Object.entries(PINNED)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join('; ');

/** Settings that PostgreSQL reports to its client when they change, so that PgBouncer keeps them for each client. */
const REPORTED: ReadonlySet<string> = new Set(['DateStyle', 'IntervalStyle', 'standard_conforming_strings']);

/** The pinned settings that a pooler cannot keep for each client, with their values. */
export const UNREPORTED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PINNED).filter(([name]) => !REPORTED.has(name)),
);

/** Managers whose connections are pinned. */
const pinning = new WeakSet<ConnectionManager<Connection>>();

/**
 * Has the settings pinned on each new connection, which executes one query at a time from then on. A connection that was opened
 * before is closed at its next use, and a new one is opened in its place.
 */
export function pinSettings(sequelize: Sequelize): void {
  const manager = knownManager<Connection>(sequelize);
  if (!manager || pinning.has(manager)) return;
  pinning.add(manager);
  const connect = manager.connect.bind(manager);
  const validate = manager.validate.bind(manager);
  const { timezone: zone = '+00:00' } = instanceOptions(sequelize);
  const pinned = new WeakSet<Connection>();
  manager.connect = async (settings) => {
    const client = await connect(settings);
    takeTurns(client);
    try {
      await client.query(SET_PINNED);
    } catch (error) {
      // The connection is in no pool yet, so nobody else would close it.
      void client.end?.();
      throw error;
    }
    parseExactly(client, zone);
    pinned.add(client);
    return client;
  };
  manager.validate = (client) => pinned.has(client) && validate(client);
}
