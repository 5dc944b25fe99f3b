/** The parts of a model's statements that never change: its table, and how it names its columns. */
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import type { Selection } from '../../operation/operation.js';
import { type ColumnSql, columnsOf } from './predicate-sql.js';
import { quotedTable } from './quoted-table.js';
import { columnName, identifier, raw, type SqlFragment, sql } from './sql-fragment.js';

/** A model's table, as statements name it. */
export interface TableSql {
  readonly info: ModelInfo;
  /** With the schema, quoted. */
  readonly name: string;
  readonly table: SqlFragment;
  /** The table with the name that it has in a statement: the model's, as in Sequelize's. */
  readonly source: SqlFragment;
  /** A column, qualified. */
  readonly column: ColumnSql;
}

/** Describes the table of a model. */
export function describeTable(info: ModelInfo): TableSql {
  const name = quotedTable(info.model);
  const table = raw(name);
  const source = sql`${table} AS ${raw(identifier(info.name))}`;
  return Object.freeze({ info, name, table, source, column: columnsOf(info, info.name) });
}

/** What of the rows is selected. */
export interface SelectionSql {
  readonly attributes: readonly AttributeInfo[];
  /** Their columns. No other table is in the query, so they need no qualification. */
  readonly columns: readonly SqlFragment[];
  /** The same for two selections only if their columns are the same. */
  readonly shape: string;
}

/** Describes a selection of a model's columns. */
export function describeSelection({ info }: TableSql, { columns }: Selection): SelectionSql {
  const attributes = columns.map((name) => attributeOf(info, name));
  return { attributes, columns: attributes.map(columnName), shape: selectionShape({ columns }) };
}

/** What tells a selection from others. */
export function selectionShape({ columns }: Selection): string {
  return columns.join('\0');
}

/** @throws TypeError for a name that the model does not have */
export function attributeOf({ attributes, name: model }: ModelInfo, name: string): AttributeInfo {
  const attribute = attributes.get(name);
  if (attribute === undefined) throw new TypeError(`${model} has no attribute '${name}'.`);
  return attribute;
}
