/** The parts of a model's statements that never change: its table, and how it names its columns. */
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import type { Selection } from '../../operation/operation.js';
import { attributeOf, type ColumnSql, columnsOf } from './predicate-sql.js';
import { quotedTable } from './quoted-table.js';
import { columnName, identifier, raw, type SqlFragment } from './sql-fragment.js';

/** A model's table, as statements name it. */
export interface TableSql {
  readonly info: ModelInfo;
  /** With the schema, quoted. */
  readonly name: string;
  /** The table with the name that it has in a statement: the model's, as in Sequelize's. */
  readonly source: SqlFragment;
  /** A column, qualified. */
  readonly column: ColumnSql;
}

/** Describes the table of a model. */
export function describeTable(info: ModelInfo): TableSql {
  const name = quotedTable(info.model);
  const source = raw(`${name} AS ${identifier(info.name)}`);
  return Object.freeze({ info, name, source, column: columnsOf(info, info.name) });
}

/** Selected columns of the rows. */
export interface SelectionSql {
  /** No other selection of the table has it. */
  readonly number: number;
  readonly attributes: readonly AttributeInfo[];
  /** Their columns. No other table is in the query, so they need no qualification. */
  readonly columns: readonly SqlFragment[];
}

/** Describes a selection of a model's columns. */
export function describeSelection({ info }: TableSql, { columns }: Selection, number: number): SelectionSql {
  const attributes = columns.map((name) => attributeOf(info, name));
  return { number, attributes, columns: attributes.map(columnName) };
}
