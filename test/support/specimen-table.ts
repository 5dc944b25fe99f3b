/** The table of `Specimen`, filled and read by SQL: lists can be compared with the rows that are there. */
import { QueryTypes, type Sequelize } from 'sequelize';
import type { SortTerm } from '../../src/index.js';
import { HARD_COLUMNS, HARD_VALUES, nullableColumn } from './specimen.js';

/** A row: its key, and texts for the attributes that matter to a test. Others have some value. */
export interface SpecimenRow {
  readonly id: number;
  readonly values: Readonly<Record<string, string | null>>;
}

const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ...HARD_COLUMNS.flatMap((name) => [
    [name, name] as const,
    [`${name}OrNull`, nullableColumn(name)] as const,
  ]),
]);

/** The rows of a database. */
export class SpecimenTable {
  readonly #sequelize: Sequelize;

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize;
  }

  /** Sorts text as a language does, where the server has one. */
  async sortTextByLanguage(): Promise<void> {
    const [collation] = await this.#sequelize.query<{ name: string }>(
      `SELECT collname AS name FROM pg_collation
       WHERE collname IN ('en-x-icu', 'und-x-icu', 'en_US.utf8', 'C.utf8') ORDER BY collname DESC`,
      { type: QueryTypes.SELECT },
    );
    const names = ['text', nullableColumn('text')];
    const changes = names.map((name) => `ALTER "${name}" TYPE text COLLATE "${collation?.name ?? 'C'}"`);
    await this.#sequelize.query(`ALTER TABLE specimens ${changes.join(', ')}`);
  }

  /** Replaces all rows. */
  async fill(rows: readonly SpecimenRow[]): Promise<void> {
    await this.#sequelize.query('DELETE FROM specimens');
    await this.insert(rows);
  }

  async insert(rows: readonly SpecimenRow[]): Promise<void> {
    if (rows.length === 0) return;
    const names = [...COLUMNS.values()].map((column) => `"${column}"`);
    await this.#sequelize.query(
      `INSERT INTO specimens (${names.join(', ')}) VALUES ${rows.map((row) => this.#tuple(row)).join(', ')}`,
    );
  }

  async delete(id: number): Promise<void> {
    await this.#sequelize.query(`DELETE FROM specimens WHERE id = ${id}`);
  }

  /** The keys of all rows, as PostgreSQL sorts them. */
  async sortedIds(terms: readonly SortTerm[]): Promise<number[]> {
    const order = terms.map(
      ({ attribute, descending }) => `"${COLUMNS.get(attribute)}" ${descending ? 'DESC' : 'ASC'}`,
    );
    const tieBreaker = terms.at(-1)?.descending ? 'id DESC' : 'id';
    const rows = await this.#sequelize.query<{ id: number }>(
      `SELECT id FROM specimens ORDER BY ${[...order, tieBreaker].join(', ')}`,
      { type: QueryTypes.SELECT },
    );
    return rows.map(({ id }) => id);
  }

  #tuple({ id, values }: SpecimenRow): string {
    const literals = HARD_COLUMNS.flatMap((name) => [
      this.#literal(values[name] ?? HARD_VALUES[name][0]),
      this.#literal(values[`${name}OrNull`] ?? null),
    ]);
    return `(${[id, ...literals].join(', ')})`;
  }

  #literal(value: string | null | undefined): string {
    return value === null || value === undefined ? 'NULL' : this.#sequelize.escape(value);
  }
}
