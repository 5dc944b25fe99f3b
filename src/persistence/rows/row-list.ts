/** The rows of one list operation, as texts: by number, by keyset, and how many there are. */
import type { ColumnKind } from '../../model/column-type.js';
import type { ListOperation, Slot } from '../../operation/operation.js';
import type { Keyset, KeyValues } from '../../query/keyset.js';
import type { StatementTarget } from '../connections/statement-target.js';
import type { KeysetSource } from '../paging/find-cursor-page.js';
import type { TextResult, TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { type KeysetValues, type KeyTerm, keyTerms, rangesAfter, rowAt } from '../sql/keyset-sql.js';
import { type LiftedPredicate, liftValues, slotAt } from '../sql/lift-values.js';
import { joinShape, type OperationCompiler } from '../sql/operation-compiler.js';
import { compilePredicate } from '../sql/predicate-sql.js';
import { compileSelect, type RowsSql } from '../sql/select-sql.js';
import { raw, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { fillSlots, type Slots } from '../sql/statement.js';
import type { SelectionSql } from '../sql/table-sql.js';

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

const OFFSET: Slot = Object.freeze({ slot: 'offset' });

/** One of the ranges behind a keyset, or all rows. */
export interface RowRange {
  readonly walk: readonly KeyTerm[];
  readonly keyset: Keyset | null;
  readonly index: number;
}

/** The rows that one request lists. The columns of a row are those of the selection; others may follow. */
export class RowList implements KeysetSource<TextRow, RowRange> {
  readonly terms: readonly KeyTerm[];
  /** How the driver would read the columns; none as long as nothing was found. */
  parsers: readonly TextParser[] = [];
  readonly #compiler: OperationCompiler;
  readonly #selection: SelectionSql;
  readonly #where: LiftedPredicate;
  readonly #slots: Slots;
  readonly #on: StatementTarget;
  /** The values that rows are sorted by, where they are not selected as such. */
  readonly #keyColumns: SqlFragment[] = [];
  readonly #keyPositions: readonly number[];

  constructor(compiler: OperationCompiler, operation: ListOperation, slots: Slots, on: StatementTarget) {
    const { info, column } = compiler.table;
    this.#compiler = compiler;
    this.#on = on;
    this.#selection = compiler.selection(operation.select);
    this.#where = liftValues(operation.where);
    this.#slots = { ...slots, ...this.#where.bound };
    this.terms = keyTerms(info, operation.order);
    const { attributes } = this.#selection;
    this.#keyPositions = this.terms.map(({ attribute }) => {
      const known = attributes.findIndex(({ name, type }) => name === attribute && SELF_TEXT.has(type.kind));
      if (known >= 0) return known;
      return attributes.length + this.#keyColumns.push(sql`${column(attribute)}::text`) - 1;
    });
  }

  ranges(walk: readonly KeyTerm[], keyset: Keyset | null): RowRange[] {
    if (!keyset) return [{ walk, keyset, index: 0 }];
    return this.#rangesAfter(walk, keyset).map((_, index) => ({ walk, keyset, index }));
  }

  find({ walk, keyset, index }: RowRange, limit: number): Promise<TextRow[]> {
    const { column } = this.#compiler.table;
    return this.#rows(
      joinShape('keyset', `${limit}`, `${index}`, shapeOf(walk, keyset)),
      this.#slotsOf(keyset),
      () => ({
        columns: [
          ...this.#selection.columns,
          ...this.#keyColumns,
          ...(keyset ? [rowAt(walk, slotted(keyset), column)] : []),
        ],
        conditions: this.#rangeAfter(walk, keyset, index),
        order: walk,
        tail: raw(` LIMIT ${limit}`),
      }),
    );
  }

  async hasAny({ walk, keyset, index }: RowRange): Promise<boolean> {
    const shape = joinShape('any', `${index}`, shapeOf(walk, keyset));
    const { rows } = await this.#run(shape, this.#slotsOf(keyset), this.#where.hasValues, () => ({
      columns: [raw('1')],
      conditions: this.#rangeAfter(walk, keyset, index),
      order: walk,
      tail: raw(' LIMIT 1'),
    }));
    return rows.length > 0;
  }

  valuesOf(row: TextRow): KeyValues {
    return this.#keyPositions.map((position) => row[position] ?? null);
  }

  isPlace(row: TextRow): boolean {
    return row[this.#selection.columns.length + this.#keyColumns.length] === 't';
  }

  /** The rows behind an offset. It is no part of the text: PostgreSQL would have to keep a statement for each page. */
  findFrom(offset: number, limit: number): Promise<TextRow[]> {
    const isFirst = offset === 0;
    const slots = isFirst ? this.#slots : { ...this.#slots, [OFFSET.slot]: String(offset) };
    const shape = joinShape(isFirst ? 'first' : 'offset', `${limit}`, shapeOf(this.terms, null));
    return this.#rows(
      shape,
      slots,
      () => ({
        columns: this.#selection.columns,
        conditions: [],
        order: this.terms,
        tail: isFirst ? raw(` LIMIT ${limit}`) : sql` LIMIT ${raw(String(limit))} OFFSET ${OFFSET}`,
      }),
      !isFirst,
    );
  }

  async count(): Promise<number> {
    const { rows } = await this.#run('count', this.#slots, this.#where.hasValues, () => ({
      columns: [raw('count(*)')],
      conditions: [],
    }));
    return Number(rows[0]?.[0]);
  }

  async #rows(shape: string, slots: Slots, rows: () => RowsSql, isPlanned = false): Promise<TextRow[]> {
    const { shape: selection } = this.#selection;
    const found = await this.#run(
      joinShape(shape, selection),
      slots,
      isPlanned || this.#where.hasValues,
      rows,
    );
    this.parsers = found.parsers;
    return found.rows as TextRow[];
  }

  /** @param isPlanned whether the values decide which plan is good */
  #run(shape: string, slots: Slots, isPlanned: boolean, rows: () => RowsSql): Promise<TextResult> {
    const { table } = this.#compiler;
    const { shape: whereShape, predicate } = this.#where;
    const statement = this.#compiler.statement(joinShape('list', shape, whereShape), () => {
      const { conditions, ...rest } = rows();
      const where = predicate ? [compilePredicate(predicate, table.column)] : [];
      return compileSelect(table, { ...rest, conditions: [...where, ...conditions] });
    });
    const values = fillSlots(statement, slots);
    const { text } = statement;
    return isPlanned
      ? this.#on.readPlanned(text, values, table.name)
      : this.#on.read(text, values, table.name);
  }

  #rangeAfter(walk: readonly KeyTerm[], keyset: Keyset | null, index: number): SqlFragment[] {
    return keyset ? [this.#rangesAfter(walk, keyset)[index] as SqlFragment] : [];
  }

  #rangesAfter(walk: readonly KeyTerm[], keyset: Keyset): readonly SqlFragment[] {
    return this.#compiler.ranges(shapeOf(walk, keyset), () =>
      rangesAfter(walk, slotted(keyset), this.#compiler.table.column),
    );
  }

  #slotsOf(keyset: Keyset | null): Slots {
    if (!keyset) return this.#slots;
    const slots = { ...this.#slots };
    for (const [index, value] of keyset.values.entries()) slots[slotAt('keyset', index).slot] = value;
    return slots;
  }
}

/** The same keyset with the slot of each value in its stead. */
function slotted({ values, isInclusive }: Keyset): KeysetValues {
  return {
    values: values.map((value, index) => (value === null ? null : slotAt('keyset', index))),
    isInclusive,
  };
}

/** What a statement of the order and the keyset depends on beside their values: names, directions, and which are NULL. */
function shapeOf(walk: readonly KeyTerm[], keyset: Keyset | null): string {
  let shape = '';
  for (const { attribute, descending } of walk) shape += `${descending ? '-' : '+'}${attribute}\0`;
  if (!keyset) return shape;
  shape += keyset.isInclusive ? '>=' : '>';
  for (const value of keyset.values) shape += value === null ? '0' : '1';
  return shape;
}
