/** Reads rows of a model as texts, with statements made from the model alone. Knows no instances, hooks and scopes. */
import type { Sequelize } from 'sequelize';
import type { ColumnKind } from '../model/column-type.js';
import type { AttributeInfo, ModelInfo } from '../model/model-info.js';
import type { Filter } from '../query/filter.js';
import type { Keyset } from '../query/keyset.js';
import type { ListQuery } from '../query/list-query.js';
import type { TextResult, TextRow } from './driver-query.js';
import { compileFilter } from './filter-sql.js';
import { findCursorPage, type KeyedRow, type KeyedRows } from './find-cursor-page.js';
import { type KeyTerm, keyTerms, rowAt } from './keyset-sql.js';
import type { CursorPage, OffsetPage } from './page.js';
import type { TextParser } from './prepared-statement.js';
import { joinSql, raw, renderSql, type SqlFragment, sql } from './sql-fragment.js';
import { statementRunner } from './statement-runner.js';
import { describeTable, type TableSql } from './table-sql.js';

/** Rows, and how the driver would read their columns. */
export interface TextRows {
  readonly rows: readonly TextRow[];
  readonly parsers: readonly TextParser[];
}

/** A page of rows, and how the driver would read their columns. */
export type TextPage<P> = P & { readonly parsers: readonly TextParser[] };

/** Columns whose text in a result is the one that `::text` gives. */
const SELF_TEXT: ReadonlySet<ColumnKind> = new Set([
  'integer',
  'bigint',
  'decimal',
  'float',
  'date',
  'dateonly',
  'time',
  'uuid',
]);

/** Clients choose the order and the size. */
const MAX_REMEMBERED = 500;

/** Which rows of a list, in which order. */
type RowsQuery = Pick<ListQuery, 'filter' | 'sort'>;

/** Finds rows of one model. The columns of a row are those of the attributes, in their order; others may follow. */
export class FastFinder {
  readonly #info: ModelInfo;
  readonly #table: TableSql;
  readonly #byId: string;
  readonly #firstPages = new Map<string, Statement>();

  constructor(info: ModelInfo, attributes: readonly AttributeInfo[]) {
    this.#info = info;
    this.#table = describeTable(info, attributes);
    const { column } = this.#table;
    // The value is another one each time; the text is what counts.
    this.#byId = this.#select([], [sql`${column(info.primaryKey.name)} = ${''}`]).text;
  }

  /** The row with this primary key, in its text form; the rows are one or none. */
  find(id: string): Promise<TextRows> {
    return this.#runner.read(this.#byId, [id]);
  }

  /** One page by number. As `Repository.page`, it does not count where a short page tells how many rows there are. */
  async page(query: RowsQuery & Pick<ListQuery, 'page' | 'size'>): Promise<TextPage<OffsetPage<TextRow>>> {
    const { page, size } = query;
    const offset = (page - 1) * size;
    const terms = keyTerms(this.#info, query.sort);
    const conditions = this.#conditions(query.filter);
    const tail = [orderBy(this.#table, terms), raw(` LIMIT ${size}`)];
    // The values are no part of the text: PostgreSQL would have to keep a statement for each page.
    if (offset > 0) tail.push(sql` OFFSET ${String(offset)}`);
    const isPlanned = query.filter !== null || offset > 0;
    const { rows, parsers } = await this.#run(this.#select([], conditions, tail), isPlanned);
    const isLast = rows.length < size && (rows.length > 0 || page === 1);
    const total = isLast ? offset + rows.length : await this.#count(conditions, query.filter !== null);
    return { items: [...rows], total, page, size, parsers };
  }

  /** One page next to a place. */
  async cursorPage(
    query: RowsQuery & Pick<ListQuery, 'after' | 'before' | 'size'>,
  ): Promise<TextPage<CursorPage<TextRow>>> {
    const conditions = this.#conditions(query.filter);
    const source = new KeyedTextRows(keyTerms(this.#info, query.sort), this.#table, (parts) => {
      const build = () =>
        this.#select(parts.columns(), [...conditions, ...parts.conditions], parts.tail(), parts.isAny);
      const isFirst = parts.conditions.length === 0 && query.filter === null;
      return this.#run(isFirst ? this.#remember(parts.key, build) : build(), query.filter !== null);
    });
    const page = await findCursorPage(source, query);
    return { ...page, parsers: source.parsers };
  }

  /** The statement of a first page: most lists are asked for one, and all of them are the same. */
  #remember(key: string, build: () => Statement): Statement {
    const known = this.#firstPages.get(key) ?? build();
    if (this.#firstPages.size >= MAX_REMEMBERED) this.#firstPages.clear();
    this.#firstPages.set(key, known);
    return known;
  }

  async #count(conditions: readonly SqlFragment[], isPlanned: boolean): Promise<number> {
    const { table, alias } = this.#table;
    const count = statement([
      raw(`SELECT count(*) FROM ${table} AS ${alias}`),
      where(this.#table, conditions),
    ]);
    const { rows } = await this.#run(count, isPlanned);
    return Number(rows[0]?.[0]);
  }

  #conditions(filter: Filter | null): SqlFragment[] {
    return filter ? [compileFilter(filter, this.#table.column)] : [];
  }

  #select(
    more: readonly SqlFragment[],
    conditions: readonly SqlFragment[],
    tail: readonly SqlFragment[] = [],
    isAny = false,
  ): Statement {
    const { table, alias, columns: own } = this.#table;
    const columns = isAny ? raw('1') : joinSql([raw(own), ...more], ', ');
    return statement([
      sql`SELECT ${columns} FROM ${raw(`${table} AS ${alias}`)}`,
      where(this.#table, conditions),
      ...tail,
    ]);
  }

  #run({ text, values }: Statement, isPlanned: boolean): Promise<TextResult> {
    return isPlanned ? this.#runner.readPlanned(text, values) : this.#runner.read(text, values);
  }

  get #runner() {
    return statementRunner(this.#info.model.sequelize as Sequelize);
  }
}

/** A text with numbered parameters, and their values. */
interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

function statement(parts: readonly SqlFragment[]): Statement {
  const whole = joinSql(parts, '');
  return { text: renderSql(whole, (_, index) => `$${index + 1}`), values: whole.values };
}

function where({ alive }: TableSql, conditions: readonly SqlFragment[]): SqlFragment {
  const all = [...(alive === null ? [] : [alive]), ...conditions.map((each) => sql`(${each})`)];
  return all.length === 0 ? raw('') : sql` WHERE ${joinSql(all, ' AND ')}`;
}

function orderBy({ column }: TableSql, terms: readonly KeyTerm[]): SqlFragment {
  const keys = terms.map(({ attribute, descending }) =>
    descending ? sql`${column(attribute)} DESC` : column(attribute),
  );
  return sql` ORDER BY ${joinSql(keys, ', ')}`;
}

/** What a page by place adds to a statement. */
interface PageParts {
  /** The order and the number of rows: with the conditions, all that the statement depends on. */
  readonly key: string;
  readonly conditions: readonly SqlFragment[];
  /** Whether only the existence of a row is asked for. */
  readonly isAny: boolean;
  columns(): readonly SqlFragment[];
  tail(): readonly SqlFragment[];
}

/** Where the key values of a row are: in the columns that it is read with, or in further ones. */
interface KeyColumns {
  readonly columns: readonly SqlFragment[];
  readonly positions: readonly number[];
}

/** The rows of one request, with their keys. */
class KeyedTextRows implements KeyedRows<TextRow> {
  readonly terms: readonly KeyTerm[];
  readonly column: TableSql['column'];
  parsers: readonly TextParser[] = [];
  readonly #table: TableSql;
  readonly #ask: (parts: PageParts) => Promise<TextResult>;

  constructor(terms: readonly KeyTerm[], table: TableSql, ask: (parts: PageParts) => Promise<TextResult>) {
    this.terms = terms;
    this.column = table.column;
    this.#table = table;
    this.#ask = ask;
  }

  async find(
    walk: readonly KeyTerm[],
    range: SqlFragment | null,
    place: Keyset | null,
    limit: number,
  ): Promise<KeyedRow<TextRow>[]> {
    const { columns, positions } = this.#keys(walk);
    const { rows, parsers } = await this.#ask({
      key: `${limit}${walk.map(({ attribute, descending }) => (descending ? '-' : '+') + attribute)}`,
      conditions: range ? [range] : [],
      isAny: false,
      columns: () => (place ? [...columns, rowAt(walk, place, this.column)] : columns),
      tail: () => [orderBy(this.#table, walk), raw(` LIMIT ${limit}`)],
    });
    this.parsers = parsers;
    const placeAt = this.#table.attributes.length + columns.length;
    return rows.map((record) => ({
      record,
      values: positions.map((position) => record[position] ?? null),
      isPlace: place !== null && record[placeAt] === 't',
    }));
  }

  async hasAny(walk: readonly KeyTerm[], range: SqlFragment): Promise<boolean> {
    const { rows } = await this.#ask({
      key: '',
      conditions: [range],
      isAny: true,
      columns: () => [],
      tail: () => [orderBy(this.#table, walk), raw(' LIMIT 1')],
    });
    return rows.length > 0;
  }

  #keys(walk: readonly KeyTerm[]): KeyColumns {
    const { attributes } = this.#table;
    const columns: SqlFragment[] = [];
    const positions = walk.map(({ attribute }) => {
      const known = attributes.findIndex(({ name, type }) => name === attribute && SELF_TEXT.has(type.kind));
      return known >= 0 ? known : attributes.length + columns.push(sql`${this.column(attribute)}::text`) - 1;
    });
    return { columns, positions };
  }
}
