/** Reads rows of a model as texts, with statements made from the model alone. Knows no instances, hooks and scopes. */
import type { Sequelize } from 'sequelize';
import type { ModelInfo } from '../../model/model-info.js';
import type { Filter } from '../../query/filter.js';
import type { CursorListQuery, ListCriteria, OffsetListQuery } from '../../query/list-query.js';
import { statementRunner } from '../connections/statement-runner.js';
import { findCursorPage } from '../paging/find-cursor-page.js';
import type { CursorPage, OffsetPage } from '../paging/page.js';
import type { TextResult, TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { compileFilter } from '../sql/filter-sql.js';
import { keyTerms } from '../sql/keyset-sql.js';
import { type Statement, select, selectRows } from '../sql/select-sql.js';
import { raw, type SqlFragment, sql } from '../sql/sql-fragment.js';
import type { TableSql } from '../sql/table-sql.js';
import { KeysetRowSource, KeysetStatements } from './keyset-row-source.js';

/** Rows, and how the driver would read their columns. */
export interface TextRows {
  readonly rows: readonly TextRow[];
  readonly parsers: readonly TextParser[];
}

/** A page of rows, and how the driver would read their columns. */
export type TextPage<P> = P & { readonly parsers: readonly TextParser[] };

/** Which rows of a list, in which order. */
type RowsQuery = Pick<ListCriteria, 'filter' | 'sort'>;

/** Finds rows of one model. The columns of a row are those of the attributes, in their order; others may follow. */
export class FastFinder {
  readonly #info: ModelInfo;
  readonly #table: TableSql;
  readonly #byId: string;
  readonly #places: KeysetStatements;

  constructor(table: TableSql) {
    const { info } = table;
    this.#info = info;
    this.#table = table;
    this.#places = new KeysetStatements(this.#table);
    const key = this.#table.column(info.primaryKey.name);
    // The value is another one each time; the text is what counts.
    this.#byId = selectRows(this.#table, { conditions: [sql`${key} = ${''}`] }).text;
  }

  /** The row with this primary key, in its text form; the rows are one or none. */
  find(id: string): Promise<TextRows> {
    return this.#runner.read(this.#byId, [id], this.#table.table);
  }

  /** One page by number. As `Repository.page`, it does not count where a short page tells how many rows there are. */
  async page(
    query: RowsQuery & Pick<OffsetListQuery, 'page' | 'size'>,
  ): Promise<TextPage<OffsetPage<TextRow>>> {
    const { page, size, filter } = query;
    const offset = (page - 1) * size;
    const conditions = this.#conditions(filter);
    // The offset is no part of the text: PostgreSQL would have to keep a statement for each page.
    const tail =
      offset > 0 ? sql` LIMIT ${raw(String(size))} OFFSET ${String(offset)}` : raw(` LIMIT ${size}`);
    const selection = { conditions, order: keyTerms(this.#info, query.sort), tail };
    const { rows, parsers } = await this.#run(
      selectRows(this.#table, selection),
      filter !== null || offset > 0,
    );
    const isLast = rows.length < size && (rows.length > 0 || page === 1);
    const total = isLast ? offset + rows.length : await this.#count(conditions);
    return { items: [...rows], total, page, size, parsers };
  }

  /** One page next to a place. */
  async cursorPage(
    query: RowsQuery & Pick<CursorListQuery, 'after' | 'before' | 'size'>,
  ): Promise<TextPage<CursorPage<TextRow>>> {
    const filter = this.#conditions(query.filter);
    const terms = keyTerms(this.#info, query.sort);
    const source = new KeysetRowSource(terms, this.#places, filter, (statement) =>
      this.#run(statement, filter.length > 0),
    );
    const page = await findCursorPage(source, query);
    return { ...page, parsers: source.parsers };
  }

  async #count(conditions: readonly SqlFragment[]): Promise<number> {
    const count = select(this.#table, raw('count(*)'), { conditions });
    const { rows } = await this.#run(count, conditions.length > 0);
    return Number(rows[0]?.[0]);
  }

  #conditions(filter: Filter | null): SqlFragment[] {
    return filter ? [compileFilter(filter, this.#table.column)] : [];
  }

  /** @param isPlanned whether the values decide which plan is good */
  #run({ text, values }: Statement, isPlanned: boolean): Promise<TextResult> {
    const { table } = this.#table;
    return isPlanned ? this.#runner.readPlanned(text, values, table) : this.#runner.read(text, values, table);
  }

  get #runner() {
    return statementRunner(this.#info.model.sequelize as Sequelize);
  }
}
