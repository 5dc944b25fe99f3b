/** Writes rows of a model, with statements made from the model alone. Knows no instances, hooks and setters. */
import type { Sequelize } from 'sequelize';
import { timestampsOf } from '../../model/attribute-notes.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { defaultValues } from '../../model/sequelize-internals.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { statementRunner } from '../connections/statement-runner.js';
import { type TableTriggers, tableTriggers } from '../customization/table-triggers.js';
import type { TextResult, TextValues } from '../protocol/batch.js';
import { changedSql } from '../sql/changed-sql.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { identifier } from '../sql/sql-fragment.js';
import { deletedAtOf, type TableSql } from '../sql/table-sql.js';
import type { TextRows } from './fast-finder.js';

/** Values by attribute. */
export type WriteValues = Readonly<Record<string, unknown>>;

/** A column that rows are written with. */
interface WrittenColumn {
  readonly attribute: AttributeInfo;
  /** What Sequelize gives a new row that has no value for it. */
  readonly makeDefault: (() => unknown) | undefined;
  readonly isTimestamp: boolean;
  /** Whether Sequelize refuses a new row without a value for it, even where the table has a default. */
  readonly isRequired: boolean;
}

/** Texts of the columns that are written. */
interface WrittenValues {
  /** Which of the columns those are: a digit for each. */
  readonly shape: string;
  readonly texts: (string | null)[];
}

/** Writes rows of one model, and gives them back with the columns of the attributes. */
export class FastWriter {
  readonly #info: ModelInfo;
  readonly #table: string;
  readonly #returning: string;
  /** The row with the key `$1`, if it is there. */
  readonly #row: string;
  readonly #updatedAt: string | undefined;
  readonly #columns: readonly WrittenColumn[];
  readonly #inserts = new BoundedCache<string>();
  readonly #updates = new BoundedCache<string>();
  readonly #ask = async (text: string, values: TextValues) => (await this.#run(text, values)).rows;

  constructor({ info, table, columns }: TableSql) {
    this.#info = info;
    this.#table = table;
    this.#returning = columns;
    const deletedAt = this.#columnOf(deletedAtOf(info));
    const isAlive = deletedAt === undefined ? '' : ` AND ${deletedAt} IS NULL`;
    this.#row = `${identifier(info.primaryKey.column)} = $1${isAlive}`;
    this.#updatedAt = this.#columnOf(timestampsOf(info.model).updatedAt);
    this.#columns = writtenColumns(info);
  }

  /** Inserts a row. Null for values that only Sequelize can write: nothing has happened then. */
  async insert(given: WriteValues): Promise<TextRows | null> {
    const moment = now();
    const written = this.#textsOf(given, ({ isTimestamp, makeDefault }) =>
      isTimestamp ? moment : makeDefault?.(),
    );
    if (written === null || this.#lacksValue(written)) return null;
    const { shape, texts } = written;
    const text = this.#inserts.get(shape, () => this.#insertText(this.#columnsOf(shape)));
    return this.#write(text, texts, null);
  }

  /**
   * Changes a row, when a value differs from what it has; and gives it, or no row where there is none. Null as for
   * `insert`, and where triggers may change the row once more.
   */
  async update(id: string, changes: WriteValues): Promise<TextRows | null> {
    const written = this.#textsOf(changes, () => undefined);
    if (written === null || (await this.#triggers()).hideUpdates) return null;
    const { shape, texts } = written;
    if (texts.length > 0) {
      const moment = this.#updatedAt === undefined ? [] : [now()];
      const text = this.#updates.get(shape, () => this.#updateText(this.#columnsOf(shape)));
      const changed = await this.#write(text, [id, ...texts, ...texts, ...moment], id);
      // Triggers are asked for again where PostgreSQL has said meanwhile that the table was changed.
      if (changed.rows.length > 0 && !(await this.#triggers()).hideUpdates) return changed;
    }
    return this.#run(`SELECT ${this.#returning} FROM ${this.#table} WHERE ${this.#row}`, [id]);
  }

  /** Deletes a row, or marks it as deleted; whether there was one. */
  async delete(id: string): Promise<boolean> {
    const deletedAt = this.#columnOf(deletedAtOf(this.#info));
    const { count } =
      deletedAt === undefined
        ? await this.#run(`DELETE FROM ${this.#table} WHERE ${this.#row}`, [id])
        : await this.#run(`UPDATE ${this.#table} SET ${deletedAt} = $2 WHERE ${this.#row}`, [id, now()]);
    return count > 0;
  }

  /** The texts of the values that are given, and of those that are made for columns without one. */
  #textsOf(given: WriteValues, make: (column: WrittenColumn) => unknown): WrittenValues | null {
    const texts: (string | null)[] = [];
    let shape = '';
    for (const column of this.#columns) {
      const { name, type } = column.attribute;
      const own = given[name];
      const value = own === undefined ? make(column) : own;
      shape += value === undefined ? '0' : '1';
      if (value === undefined) continue;
      // A timestamp of ours is a text already.
      const text = column.isTimestamp && typeof value === 'string' ? value : encodeParameter(type, value);
      if (text === undefined) return null;
      texts.push(text);
    }
    return { shape, texts };
  }

  #lacksValue({ shape }: WrittenValues): boolean {
    return this.#columns.some(({ isRequired }, index) => isRequired && shape[index] === '0');
  }

  #columnsOf(shape: string): AttributeInfo[] {
    return this.#columns.filter((_, index) => shape[index] === '1').map(({ attribute }) => attribute);
  }

  #insertText(attributes: readonly AttributeInfo[]): string {
    const names = attributes.map(({ column }) => identifier(column)).join(', ');
    const places = attributes.map((_, index) => `$${index + 1}`).join(', ');
    const row = attributes.length === 0 ? 'DEFAULT VALUES' : `(${names}) VALUES (${places})`;
    return `INSERT INTO ${this.#table} ${row} RETURNING ${this.#returning}`;
  }

  /** Only a row that differs is written, so that `updatedAt` and triggers tell of changes. */
  #updateText(attributes: readonly AttributeInfo[]): string {
    const count = attributes.length;
    const columns = attributes.map(({ column }) => identifier(column));
    const sets = columns.map((column, index) => `${column} = $${index + 2}`);
    // Each value comes twice: PostgreSQL gives a parameter one type, and a column may be compared as another.
    const differences = attributes.map(({ type }, index) =>
      changedSql(type, columns[index] as string, `$${count + index + 2}`),
    );
    if (this.#updatedAt !== undefined) sets.push(`${this.#updatedAt} = $${2 * count + 2}`);
    return (
      `UPDATE ${this.#table} SET ${sets.join(', ')} WHERE ${this.#row} AND (${differences.join(' OR ')}) ` +
      `RETURNING ${this.#returning}`
    );
  }

  #columnOf(name: string | undefined): string | undefined {
    const column = name === undefined ? undefined : this.#info.attributes.get(name)?.column;
    return column === undefined ? undefined : identifier(column);
  }

  #triggers(): TableTriggers | Promise<TableTriggers> {
    return tableTriggers(this.#info.model.sequelize as Sequelize, this.#table, this.#ask);
  }

  /** Together with others of the same statement, unless a trigger may do what could not be undone. */
  async #write(text: string, values: TextValues, key: string | null): Promise<TextResult> {
    const isShared = this.#runner.sharesWrites && !(await this.#triggers()).areThere;
    return isShared ? this.#runner.writeTogether(text, values, key) : this.#run(text, values);
  }

  #run(text: string, values: TextValues) {
    return this.#runner.write(text, values);
  }

  get #runner() {
    return statementRunner(this.#info.model.sequelize as Sequelize);
  }
}

let lastMoment = 0;
let lastText = '';

/** Many rows are written in one millisecond, and its text is worth as much as the rest of a row's. */
function now(): string {
  const current = Date.now();
  if (current !== lastMoment) {
    lastMoment = current;
    lastText = new Date(current).toISOString();
  }
  return lastText;
}

function writtenColumns({ model, attributes }: ModelInfo): WrittenColumn[] {
  const defaults = defaultValues(model);
  const { createdAt, updatedAt } = timestampsOf(model);
  return [...attributes.values()]
    .filter(({ type }) => type.kind !== 'virtual')
    .map((attribute) => ({
      attribute,
      makeDefault: defaults[attribute.name],
      isTimestamp: attribute.name === createdAt || attribute.name === updatedAt,
      isRequired: !attribute.nullable && !attribute.hasDefault,
    }));
}
