/**
 * Rows of a table by place, as texts. What a statement looks like depends on the order, on which key values of the place are
 * NULL and on the number of rows, not on the values: it is put together once for all places of a shape.
 */
import type { ColumnKind } from '../../model/column-type.js';
import type { Keyset, KeyValues } from '../../query/keyset.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import type { KeysetSource } from '../paging/find-cursor-page.js';
import type { TextResult, TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { type KeyTerm, rangesAfter, rowAt } from '../sql/keyset-sql.js';
import { type Statement, select, selectRows } from '../sql/select-sql.js';
import { raw, type SqlFragment, sql } from '../sql/sql-fragment.js';
import type { TableSql } from '../sql/table-sql.js';

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

/** One of the ranges behind a place, or all rows. */
export interface TextRange {
  readonly walk: readonly KeyTerm[];
  readonly place: Keyset | null;
  /** Of the order and the place. */
  readonly shape: string;
  readonly index: number;
}

/** What is kept for the places of a table. */
export class KeysetStatements {
  readonly table: TableSql;
  readonly #ranges = new BoundedCache<readonly SqlFragment[]>();
  readonly #statements = new BoundedCache<Statement>();

  constructor(table: TableSql) {
    this.table = table;
  }

  /** The conditions of the ranges; each value in them is the position of a key value. */
  ranges(walk: readonly KeyTerm[], place: Keyset, shape: string): readonly SqlFragment[] {
    return this.#ranges.get(shape, () => rangesAfter(walk, positionsOf(place), this.table.column));
  }

  /** A statement whose values are positions of key values. */
  statement(key: string, build: () => Statement): Statement {
    return this.#statements.get(key, build);
  }
}

/** The rows that one request walks. */
export class KeysetRowSource implements KeysetSource<TextRow, TextRange> {
  readonly terms: readonly KeyTerm[];
  parsers: readonly TextParser[] = [];
  readonly #statements: KeysetStatements;
  readonly #filter: readonly SqlFragment[];
  readonly #ask: (statement: Statement) => Promise<TextResult>;
  readonly #more: readonly SqlFragment[];
  readonly #positions: readonly number[];

  /** @param filter conditions of the request, which are no part of any shape */
  constructor(
    terms: readonly KeyTerm[],
    statements: KeysetStatements,
    filter: readonly SqlFragment[],
    ask: (statement: Statement) => Promise<TextResult>,
  ) {
    this.terms = terms;
    this.#statements = statements;
    this.#filter = filter;
    this.#ask = ask;
    const { attributes, column } = statements.table;
    const more: SqlFragment[] = [];
    this.#positions = terms.map(({ attribute }) => {
      const known = attributes.findIndex(({ name, type }) => name === attribute && SELF_TEXT.has(type.kind));
      return known >= 0 ? known : attributes.length + more.push(sql`${column(attribute)}::text`) - 1;
    });
    this.#more = more;
  }

  ranges(walk: readonly KeyTerm[], place: Keyset | null): TextRange[] {
    const shape = shapeOf(walk, place);
    if (!place) return [{ walk, place, shape, index: 0 }];
    return this.#statements.ranges(walk, place, shape).map((_, index) => ({ walk, place, shape, index }));
  }

  async find(range: TextRange, limit: number): Promise<TextRow[]> {
    const { walk, place } = range;
    const { table } = this.#statements;
    const tail = () => raw(` LIMIT ${limit}`);
    const { rows, parsers } = await this.#run(range, String(limit), (conditions) => {
      const more = place ? [...this.#more, rowAt(walk, positionsOf(place), table.column)] : this.#more;
      return selectRows(table, { more, conditions, order: walk, tail: tail() });
    });
    this.parsers = parsers;
    return rows as TextRow[];
  }

  async hasAny(range: TextRange): Promise<boolean> {
    const { table } = this.#statements;
    const { rows } = await this.#run(range, 'any', (conditions) =>
      select(table, raw('1'), { conditions, order: range.walk, tail: raw(' LIMIT 1') }),
    );
    return rows.length > 0;
  }

  valuesOf(row: TextRow): KeyValues {
    return this.#positions.map((position) => row[position] ?? null);
  }

  isPlace(row: TextRow): boolean {
    return row[this.#statements.table.attributes.length + this.#more.length] === 't';
  }

  #run(
    range: TextRange,
    purpose: string,
    build: (conditions: readonly SqlFragment[]) => Statement,
  ): Promise<TextResult> {
    const { walk, place, shape, index } = range;
    const isWhole = place === null;
    const condition = isWhole ? [] : [this.#statements.ranges(walk, place, shape)[index] as SqlFragment];
    if (this.#filter.length === 0) {
      const { text, values } = this.#statements.statement(`${purpose} ${index} ${shape}`, () =>
        build(condition),
      );
      return this.#ask({ text, values: isWhole ? [] : values.map((position) => keyValue(place, position)) });
    }
    // The values of the filter stand before those of the place, and are themselves.
    const marked = this.#filter.map(({ texts, values }) => ({
      texts,
      values: values.map((value) => `=${value}`),
    }));
    const { text, values } = build([...marked, ...condition]);
    return this.#ask({
      text,
      values: values.map((value) => (value.startsWith('=') ? value.slice(1) : keyValue(place, value))),
    });
  }
}

function keyValue(place: Keyset | null, position: string): string {
  return place?.values[Number(position)] ?? '';
}

/** The same place with the position of each value in its stead. */
function positionsOf({ values, isInclusive }: Keyset): Keyset {
  return { values: values.map((value, index) => (value === null ? null : String(index))), isInclusive };
}

function shapeOf(walk: readonly KeyTerm[], place: Keyset | null): string {
  let shape = '';
  for (const { attribute, descending } of walk) shape += `${descending ? '-' : '+'}${attribute}`;
  if (!place) return shape;
  shape += place.isInclusive ? '>=' : '>';
  for (const value of place.values) shape += value === null ? '0' : '1';
  return shape;
}
