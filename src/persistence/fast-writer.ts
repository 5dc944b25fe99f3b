/** Writes rows of a model, with statements made from the model alone. Knows no instances, hooks and setters. */
import type { Sequelize } from 'sequelize';
import type { AttributeInfo, ModelInfo } from '../model/model-info.js';
import type { TextValues } from './driver-query.js';
import type { TextRows } from './fast-finder.js';
import { identifier } from './sql-fragment.js';
import { statementRunner } from './statement-runner.js';
import { deletedAtOf, describeTable, timestampsOf } from './table-sql.js';
import { textValue } from './text-value.js';
import { changedSql, parameterSql } from './write-cast.js';

/** Values by attribute. */
export type WriteValues = Readonly<Record<string, unknown>>;

/** Columns and their texts. */
interface TextColumns {
  readonly attributes: AttributeInfo[];
  readonly values: (string | null)[];
}

/** Writes rows of one model, and gives them back with the columns of the attributes. */
export class FastWriter {
  readonly #info: ModelInfo;
  readonly #table: string;
  readonly #returning: string;
  /** The row with the key `$1`, if it is there. */
  readonly #row: string;

  constructor(info: ModelInfo, attributes: readonly AttributeInfo[]) {
    this.#info = info;
    const { table, columns } = describeTable(info, attributes);
    this.#table = table;
    this.#returning = columns;
    const deletedAt = this.#columnOf(deletedAtOf(info));
    const isAlive = deletedAt === undefined ? '' : ` AND ${deletedAt} IS NULL`;
    this.#row = `${identifier(info.primaryKey.column)} = $1${isAlive}`;
  }

  /** Inserts a row. Null for values that only Sequelize can write: nothing has happened then. */
  async insert(given: WriteValues): Promise<TextRows | null> {
    const columns = textColumns(this.#info, this.#withDefaults(given));
    if (columns === null) return null;
    const names = columns.attributes.map(({ column }) => identifier(column));
    const places = names.map((_, index) => `$${index + 1}`);
    const row = names.length === 0 ? 'DEFAULT VALUES' : `(${names.join(', ')}) VALUES (${places.join(', ')})`;
    return this.#run(`INSERT INTO ${this.#table} ${row} RETURNING ${this.#returning}`, columns.values);
  }

  /**
   * Changes a row, when a value differs from what it has; and gives it, or no row where there is none. Null as for
   * `insert`.
   */
  async update(id: string, changes: WriteValues): Promise<TextRows | null> {
    const columns = textColumns(this.#info, changes);
    if (columns === null) return null;
    if (columns.attributes.length > 0) {
      const changed = await this.#change(id, columns);
      if (changed.rows.length > 0) return changed;
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

  /** Only a row that differs is written, so that `updatedAt` and triggers tell of changes. */
  #change(id: string, { attributes, values }: TextColumns): Promise<TextRows> {
    const sets = attributes.map(
      ({ column, type }, index) => `${identifier(column)} = ${parameterSql(type, index + 2)}`,
    );
    const differences = attributes.map(({ column, type }, index) =>
      changedSql(type, identifier(column), index + 2),
    );
    const updatedAt = this.#columnOf(timestampsOf(this.#info.model).updatedAt);
    if (updatedAt !== undefined) sets.push(`${updatedAt} = $${values.length + 2}`);
    const text =
      `UPDATE ${this.#table} SET ${sets.join(', ')} WHERE ${this.#row} AND (${differences.join(' OR ')}) ` +
      `RETURNING ${this.#returning}`;
    return this.#run(text, [id, ...values, ...(updatedAt === undefined ? [] : [now()])]);
  }

  /** The values of a new row: those of the model's defaults for what is not given, and its timestamps. */
  #withDefaults(given: WriteValues): WriteValues {
    const { model } = this.#info;
    const { _defaultValues: defaults } = model as unknown as ModelDefaults;
    const { createdAt, updatedAt } = timestampsOf(model);
    const values: Record<string, unknown> = {};
    for (const [name, make] of Object.entries(defaults)) if (given[name] === undefined) values[name] = make();
    const moment = new Date();
    for (const name of [createdAt, updatedAt]) if (name) values[name] = moment;
    return { ...values, ...given };
  }

  #columnOf(name: string | undefined): string | undefined {
    const column = name === undefined ? undefined : this.#info.attributes.get(name)?.column;
    return column === undefined ? undefined : identifier(column);
  }

  #run(text: string, values: TextValues) {
    return statementRunner(this.#info.model.sequelize as Sequelize).write(text, values);
  }
}

/** The defaults of a model, which Sequelize does not type. */
interface ModelDefaults {
  readonly _defaultValues: Readonly<Record<string, () => unknown>>;
}

function now(): string {
  return new Date().toISOString();
}

/** The values as texts, in the order of the model's attributes, so that one set of them is one statement. */
function textColumns({ attributes }: ModelInfo, values: WriteValues): TextColumns | null {
  const columns: TextColumns = { attributes: [], values: [] };
  for (const attribute of attributes.values()) {
    const value = values[attribute.name];
    if (value === undefined || attribute.type.kind === 'virtual') continue;
    const text = textValue(attribute.type, value);
    if (text === undefined) return null;
    columns.attributes.push(attribute);
    columns.values.push(text);
  }
  return columns;
}
