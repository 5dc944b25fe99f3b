/** The rows of one list operation, as texts: by number, by keyset, and how many there are. */

import type { ListOperation } from '../../operation/operation.js';
import type { StatementTarget, TextParser, TextResult, TextRow } from '../../postgres/index.js';
import type { Keyset, KeyValues } from '../../request/query/cursor-codec.js';
import type { Slot } from '../../request/query/predicate.js';
import { whileKept } from '../../util/memory-budget.js';
import type { PageSource } from '../page.js';
import { type KeysetValues, type KeyTerm, rangesAfter, rowAt } from '../sql/keyset-sql.js';
import { type LiftedPredicate, slotAt } from '../sql/lift-values.js';
import type { OperationCompiler } from '../sql/operation-compiler.js';
import { type ListSql, type RowsSql, rankedOf } from '../sql/select-sql.js';
import { isLifted, liftOrder } from '../sql/sort-sql.js';
import { raw, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots } from '../sql/statement.js';

const OFFSET: Slot = Object.freeze({ slot: 'offset' });

interface RowRange {
  readonly walk: readonly KeyTerm[];
  readonly keyset: Keyset | null;
  readonly index: number;
  readonly conditions: readonly SqlFragment[];
}

/** The rows that one request lists. The columns of a row are those of the selection; others may follow. */
export class RowList implements PageSource<TextRow, RowRange> {
  /** The driver's parsers of the columns; none as long as no row was found. */
  parsers: readonly TextParser[] = [];
  readonly #compiler: OperationCompiler;
  readonly #list: ListSql;
  readonly #where: LiftedPredicate;
  readonly #slots: Slots;
  readonly #on: StatementTarget;
  readonly #isPlanned: boolean;
  /** Bytes of the rows that were found. */
  #found = 0;

  constructor(compiler: OperationCompiler, operation: ListOperation, slots: Slots, on: StatementTarget) {
    this.#compiler = compiler;
    this.#where = compiler.lift(operation.where);
    this.#slots = this.#where.bound ? joinSlots(slots, this.#where.bound) : slots;
    this.#on = on;
    if (isLifted(operation.order)) {
      const { order, shape, bound } = liftOrder(operation.order);
      this.#list = compiler.list({ ...operation, order }, shape);
      this.#slots = joinSlots(this.#slots, bound);
      this.#isPlanned = true;
    } else {
      this.#list = compiler.list(operation);
      this.#isPlanned = compiler.isPlanned(this.#list, this.#where);
    }
  }

  get terms(): readonly KeyTerm[] {
    return this.#list.terms;
  }

  ranges(walk: readonly KeyTerm[], keyset: Keyset | null): RowRange[] {
    if (!keyset) return [{ walk, keyset, index: 0, conditions: [] }];
    const { column } = this.#compiler.table;
    return this.#compiler
      .ranges(this.#list, this.#shapeOf(walk, keyset), () => rangesAfter(walk, slotted(keyset), column))
      .map((range, index) => ({ walk, keyset, index, conditions: [range] }));
  }

  find({ walk, keyset, index, conditions }: RowRange, limit: number): Promise<TextRow[]> {
    const { selection, keyColumns } = this.#list;
    const shape = `${limit}:${index}:${this.#shapeOf(walk, keyset)}`;
    return this.#rows(shape, this.#slotsOf(keyset), this.#isPlanned, () => ({
      columns: [
        ...selection.columns,
        ...keyColumns,
        ...(keyset ? [rowAt(walk, slotted(keyset), this.#compiler.table.column)] : []),
      ],
      conditions,
      order: walk,
      tail: raw(` LIMIT ${limit}`),
    }));
  }

  async hasAny({ walk, keyset, index, conditions }: RowRange): Promise<boolean> {
    const shape = `any:${index}:${this.#shapeOf(walk, keyset)}`;
    const { rows } = await this.#run(shape, this.#slotsOf(keyset), this.#isPlanned, () => ({
      columns: [raw('1')],
      conditions,
      order: walk,
      tail: raw(' LIMIT 1'),
    }));
    return rows.length > 0;
  }

  valuesOf(row: TextRow): KeyValues {
    return this.#list.keyPositions.map((position) => row[position] ?? null);
  }

  isPlace(row: TextRow): boolean {
    const { selection, keyColumns } = this.#list;
    return row[selection.columns.length + keyColumns.length] === 't';
  }

  /** The rows behind an offset. It is no part of the text: PostgreSQL would have to keep a statement for each page. */
  findFrom(offset: number, limit: number): Promise<TextRow[]> {
    const isFirst = offset === 0;
    const slots = isFirst ? this.#slots : joinSlots(this.#slots, { [OFFSET.slot]: String(offset) });
    const shape = `${isFirst ? 'first' : 'offset'}:${limit}`;
    const { terms, selection } = this.#list;
    const most = rankedOf(terms);
    return this.#rows(shape, slots, !isFirst || this.#isPlanned, () => ({
      columns: selection.columns,
      conditions: [],
      order: terms,
      among: most === undefined ? undefined : { limit: most, attributes: selection.attributes },
      tail: isFirst ? raw(` LIMIT ${limit}`) : sql` LIMIT ${raw(String(limit))} OFFSET ${OFFSET}`,
    }));
  }

  async count(limit: number): Promise<number> {
    const { rows } = await this.#run(`count:${limit}`, this.#slots, this.#isPlanned, () => ({
      columns: [],
      conditions: [],
      countTo: limit,
    }));
    return Number(rows[0]?.[0]);
  }

  #rows(shape: string, slots: Slots, isPlanned: boolean, rowsOf: () => RowsSql): Promise<TextRow[]> {
    return this.#run(shape, slots, isPlanned, rowsOf).then(({ rows, parsers, bytes = 0 }) => {
      this.parsers = parsers;
      this.#found = bytes;
      return rows as TextRow[];
    });
  }

  /**
   * Rows that were found are kept meanwhile.
   *
   * @param isPlanned true where the values decide which plan is good
   */
  #run(shape: string, slots: Slots, isPlanned: boolean, rowsOf: () => RowsSql): Promise<TextResult> {
    const { name } = this.#compiler.table;
    const statement = this.#compiler.listStatement(this.#list, shape, this.#where, rowsOf);
    const values = fillSlots(statement, slots);
    const read = () => this.#on.read(statement.text, values, name, isPlanned);
    return this.#found === 0 ? read() : whileKept(this.#found, read);
  }

  #slotsOf(keyset: Keyset | null): Slots {
    if (!keyset) return this.#slots;
    const slots = joinSlots(this.#slots, NO_SLOTS);
    for (const [index, value] of keyset.values.entries()) slots[slotAt('keyset', index).slot] = value;
    return slots;
  }

  /** Shape of a statement, without values: the direction of the walk, and the NULLs of the keyset. */
  #shapeOf(walk: readonly KeyTerm[], keyset: Keyset | null): string {
    let shape = walk[0]?.descending === this.#list.terms[0]?.descending ? 'on' : 'back';
    if (!keyset) return shape;
    shape += keyset.isInclusive ? '>=' : '>';
    for (const value of keyset.values) shape += value === null ? '0' : '1';
    return shape;
  }
}

/** The same keyset with the slot of each value in its stead. */
function slotted({ values, isInclusive }: Keyset): KeysetValues {
  return {
    values: values.map((value, index) => (value === null ? null : slotAt('keyset', index))),
    isInclusive,
  };
}
