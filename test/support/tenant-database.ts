/** A database with the rows of several tenants, interleaved, and a role that policies hold back. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { freshDatabase } from './postgres.js';

/** Names of tenants. */
export const TENANTS = Array.from({ length: 16 }, (_, index) => `tenant ${index}`);
/** Rows of each tenant in a table. */
export const ROWS = 4;

/** The keys of a tenant's rows. */
export function rowsOf(tenant: number): number[] {
  return Array.from({ length: ROWS }, (_, index) => index * TENANTS.length + tenant + 1);
}

/** A policy that fails where no tenant is set: a statement without the setting fails. */
const STRICT = `
  CREATE FUNCTION tenant() RETURNS text LANGUAGE plpgsql STABLE AS $f$ BEGIN
    IF coalesce(current_setting('app.tenant', true), '') = '' THEN
      RAISE 'There is no tenant.' USING ERRCODE = 'XX000';
    END IF;
    RETURN current_setting('app.tenant', true);
  END $f$`;

/** A database of a test. */
export class TenantDatabase implements AsyncDisposable {
  /** With the rights that no request has. */
  readonly control: Client;
  readonly role = `tenant_${randomBytes(6).toString('hex')}`;
  readonly #url: string;
  readonly #drop: () => Promise<void>;
  readonly #tables: readonly string[];

  private constructor(url: string, drop: () => Promise<void>, tables: readonly string[]) {
    this.#url = url;
    this.#drop = drop;
    this.#tables = tables;
    this.control = new Client({ connectionString: url });
  }

  /** With a table for each name, of `id`, `title` and `tenant`. */
  static async create(tables: readonly string[]): Promise<TenantDatabase> {
    const { url, drop } = await freshDatabase('secured');
    const database = new TenantDatabase(url, drop, tables);
    await database.control.connect();
    await database.control.query(STRICT);
    await database.control.query(`CREATE ROLE ${database.role} LOGIN PASSWORD '${database.role}'`);
    for (const table of tables) await database.control.query(database.#setUp(table));
    await database.reset();
    return database;
  }

  /** The address for a user whose password is its name; default: the role of requests. */
  url(user = this.role): string {
    return Object.assign(new URL(this.#url), { username: user, password: user }).href;
  }

  /** Makes all rows as they were. */
  async reset(): Promise<void> {
    for (const table of this.#tables) {
      await this.control.query(`TRUNCATE ${table} RESTART IDENTITY`);
      await this.control.query(
        `INSERT INTO ${table} (title, tenant)
         SELECT 'row ' || n, 'tenant ' || (n - 1) % ${TENANTS.length} FROM generate_series(1, ${TENANTS.length * ROWS}) AS t (n)`,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.control.query(`DROP OWNED BY ${this.role}; DROP ROLE ${this.role}`);
    await this.control.end();
    await this.#drop();
  }

  #setUp(table: string): string {
    return `
      CREATE TABLE ${table} (id serial PRIMARY KEY, title text NOT NULL, tenant text NOT NULL DEFAULT tenant());
      ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON ${table} USING (tenant = (SELECT tenant()));
      GRANT ALL ON ${table}, ${table}_id_seq TO ${this.role}`;
  }
}
