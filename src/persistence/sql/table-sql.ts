/** The parts of a model's statements that never change: its table, its columns, and which rows are alive. */
import { timestampsOf } from '../../model/attribute-notes.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { columnsOf } from './filter-sql.js';
import { quotedTable } from './quoted-table.js';
import { identifier, type SqlFragment, sql } from './sql-fragment.js';

/** A model's table, as fast statements name it. */
export interface TableSql {
  readonly info: ModelInfo;
  /** With the schema, quoted. */
  readonly table: string;
  /** The name of the table in a query: the model's, as in Sequelize's. */
  readonly alias: string;
  /** What rows are read with, in order. */
  readonly attributes: readonly AttributeInfo[];
  /** Their columns, as a list. No other table is in the query, so they need no qualification. */
  readonly columns: string;
  /** A column, qualified. */
  readonly column: (attribute: string) => SqlFragment;
  /** Which rows are not soft-deleted; null where none can be. */
  readonly alive: SqlFragment | null;
}

/** Describes the table of a model whose rows are read with these attributes. */
export function describeTable(info: ModelInfo, attributes: readonly AttributeInfo[]): TableSql {
  const column = columnsOf(info, info.name);
  const deletedAt = deletedAtOf(info);
  return Object.freeze({
    info,
    table: quotedTable(info.model),
    alias: identifier(info.name),
    attributes,
    columns: attributes.map((each) => identifier(each.column)).join(', '),
    column,
    alive: deletedAt === undefined ? null : sql`${column(deletedAt)} IS NULL`,
  });
}

/** The attribute that says when a row was soft-deleted, if the model is paranoid. */
export function deletedAtOf({ model, paranoid }: ModelInfo): string | undefined {
  return paranoid ? timestampsOf(model).deletedAt : undefined;
}
