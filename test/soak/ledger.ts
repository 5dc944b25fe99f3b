/** Promises of the application: the number of rows of each text, and the text of each version of a row. */
import type { Client } from 'pg';
import { TABLES, type TableName } from './models.js';

/** Rows that are there from the beginning, and are changed. Their ids count from 1. */
export const ACCOUNTS = 20;

/** An account. */
interface Account {
  /** The texts of acknowledged changes, by the version that each led to. */
  readonly changes: Map<number, string>;
  /** Changes whose answer was lost, or left the outcome open. */
  unknown: number;
}

/** A row as it is at the end. */
interface Row {
  readonly id: number;
  readonly text: string;
  readonly version: number;
}

/** Has the expected rows; a client reports to it before and after each write. */
export class Ledger {
  /** Broken promises that were found. */
  readonly problems: string[] = [];
  acknowledged = 0;
  readonly #counts = new Map<string, readonly number[]>();
  readonly #accounts = new Map<string, Account>();

  /** Sets how many rows of a text there may be: several numbers where the outcome of a write is not known. */
  expect(table: TableName, text: string, ...counts: readonly number[]): void {
    this.#counts.set(`${table} ${text}`, counts);
  }

  /** A change of an account was sent. Until it is acknowledged or refused, its outcome is not known. */
  beginChange(table: TableName, id: number): void {
    this.#account(table, id).unknown += 1;
  }

  /** Records that a change has led to a version. */
  acknowledgeChange(table: TableName, id: number, version: number, text: string): void {
    const account = this.#account(table, id);
    const other = account.changes.get(version);
    if (other) this.problems.push(`${table}/${id}: version ${version} is both of ${other} and of ${text}`);
    account.changes.set(version, text);
    account.unknown -= 1;
    this.acknowledged += 1;
  }

  /** Records that a change was refused. */
  refuseChange(table: TableName, id: number): void {
    this.#account(table, id).unknown -= 1;
  }

  /** Compares all promises with the rows. */
  async compare(client: Client): Promise<void> {
    for (const table of TABLES) {
      const { rows } = await client.query<Row>(`SELECT id, text, version FROM ${table}`);
      for (const row of rows) if (row.id <= ACCOUNTS) this.#compareAccount(table, row);
      this.#compareCounts(
        table,
        rows.filter(({ id }) => id > ACCOUNTS),
      );
    }
  }

  #compareAccount(table: TableName, { id, text, version }: Row): void {
    const { changes, unknown } = this.#account(table, id);
    const most = changes.size + unknown;
    // A version counts the changes that were done.
    if (version < changes.size || version > most) {
      const times = unknown > 0 ? `${changes.size} to ${most}` : `${changes.size}`;
      this.problems.push(`${table}/${id}: changed ${version} times, and should have been ${times}`);
    }
    const last = changes.get(version);
    if (last && last !== text) this.problems.push(`${table}/${id}: has ${text}, and should have ${last}`);
    const above = [...changes.keys()].filter((each) => each > version);
    if (above.length > 0) this.problems.push(`${table}/${id}: lost versions ${above.join(', ')}`);
  }

  #compareCounts(table: TableName, rows: readonly Row[]): void {
    const found = new Map<string, number>();
    for (const { text } of rows) found.set(text, (found.get(text) ?? 0) + 1);
    for (const [key, allowed] of this.#counts) {
      const [owner, text = ''] = key.split(' ');
      if (owner !== table) continue;
      const count = found.get(text) ?? 0;
      found.delete(text);
      if (allowed.includes(count)) continue;
      this.problems.push(`${table}: ${count} rows of ${text}, and should be ${allowed.join(' or ')}`);
    }
    for (const text of found.keys()) this.problems.push(`${table}: rows of ${text}, which was never sent`);
  }

  #account(table: TableName, id: number): Account {
    const key = `${table}/${id}`;
    const known = this.#accounts.get(key) ?? { changes: new Map<number, string>(), unknown: 0 };
    this.#accounts.set(key, known);
    return known;
  }
}
