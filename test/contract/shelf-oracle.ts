/** The rows of a table in memory, and operations on them as they are meant. */

import type { SortTerm } from '../../src/compile/resource-plan.js';
import type { TotalIs } from '../../src/declare/count-options.js';
import { softDeletionOf } from '../../src/features/soft-delete/deletion.js';
import type { Keyset } from '../../src/index.js';
import type { Operation } from '../../src/operation/operation.js';
import { allOf, bindTexts } from '../../src/operation/predicates.js';
import type { Deleted } from '../../src/request/query/list-query.js';
import type { Filter, Predicate } from '../../src/request/query/predicate.js';
import { type Comparator, type Expression, evaluate } from '../support/filter-oracle.js';

/** A row, as far as operations write it. */
export interface ShelfRow {
  readonly id: number;
  readonly title: string;
  readonly pages: number | null;
  readonly owner: number;
  readonly isDeleted: boolean;
}

/** Facts of a page beside its rows. */
export interface PageFacts {
  readonly total: number | null;
  readonly totalIs: TotalIs | undefined;
  readonly hasNext: boolean | undefined;
  readonly next: Keyset | null;
  readonly prev: Keyset | null;
}

/** Result of an operation. */
export interface Found {
  readonly rows: readonly ShelfRow[];
  readonly count: number;
  readonly page: PageFacts | null;
}

type Texts = Readonly<Record<string, string>>;

const numbers: Comparator = (a, b) => Number(a) - Number(b);
/** As the collation of the database does: by bytes. */
const texts: Comparator = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const COMPARATORS = { id: numbers, pages: numbers, owner: numbers, title: texts, deletedAt: texts };

/** A list, without its pages. */
export interface OracleList {
  readonly where: Predicate | null;
  readonly filter: Filter | null;
  readonly order: readonly SortTerm[];
  readonly deleted: Deleted | undefined;
  readonly slots: Texts;
}

/** The rows of one table. */
export class ShelfOracle {
  #rows: readonly ShelfRow[];
  #nextId: number;

  constructor(rows: readonly ShelfRow[]) {
    this.#rows = rows;
    this.#nextId = rows.length + 1;
  }

  /** By their keys. */
  get rows(): readonly ShelfRow[] {
    return this.#rows;
  }

  run(operation: Operation, slots: Texts): Found {
    switch (operation.kind) {
      case 'read':
        return found(this.#matching(operation.where, slots));
      case 'list':
        return listed(operation, sorted(this.#matching(operation.where, slots), operation.order));
      case 'insert':
        return found(this.#insert(operation.row));
      case 'update': {
        const { set, where, differs } = operation;
        return found(this.#change(this.#matching(where, slots), differs ? { isDeleted: false } : set));
      }
      case 'delete': {
        const rows = this.#matching(operation.where, slots);
        if (operation.mark !== null) this.#change(rows, { isDeleted: true });
        else this.#rows = this.#rows.filter((each) => !rows.includes(each));
        return { rows: [], count: rows.length, page: null };
      }
      default:
        throw new TypeError(`The oracle knows no ${operation.kind}.`);
    }
  }

  /** All rows of a list. */
  list({ where, filter, order, deleted, slots }: OracleList): readonly ShelfRow[] {
    const rows = this.#matching(allOf(where, filter), slots);
    return sorted(
      rows.filter(({ isDeleted }) => deleted === 'with' || isDeleted === (deleted === 'only')),
      order,
    );
  }

  #matching(where: Predicate | null, slots: Texts): readonly ShelfRow[] {
    const expression = where && (bindTexts(byMoments(where), slots) as Expression);
    return this.#rows.filter((row) => !expression || evaluate(expression, textsOf(row), COMPARATORS));
  }

  #insert(values: Readonly<Record<string, unknown>>): readonly ShelfRow[] {
    const { title, pages = null, owner } = values as Partial<ShelfRow>;
    const row = { id: this.#nextId, title, pages, owner, isDeleted: false } as ShelfRow;
    this.#nextId += 1;
    this.#rows = [...this.#rows, row];
    return [row];
  }

  #change(rows: readonly ShelfRow[], values: Partial<ShelfRow>): readonly ShelfRow[] {
    this.#rows = this.#rows.map((each) => (rows.includes(each) ? { ...each, ...values } : each));
    return this.#rows.filter(({ id }) => rows.some((each) => each.id === id));
  }
}

/** Has conditions of soft deletion be about the one attribute of the oracle's rows, whatever marks the rows of the table. */
function byMoments(where: Predicate): Predicate {
  if (where.kind === 'and' || where.kind === 'or')
    return { ...where, operands: where.operands.map(byMoments) };
  const asked = softDeletionOf(where);
  if (asked === undefined) return where;
  const values = [String(asked === 'none')];
  return { kind: 'comparison', attribute: 'deletedAt', operator: '=isnull=', values };
}

function found(rows: readonly ShelfRow[]): Found {
  return { rows, count: rows.length, page: null };
}

function listed(operation: Operation & { readonly kind: 'list' }, all: readonly ShelfRow[]): Found {
  const { window, count } = operation;
  if (window.kind !== 'offset') throw new TypeError('The oracle has pages by number alone.');
  const { page, size } = window;
  const end = page * size;
  const rows = all.slice(end - size, end);
  const others = { next: null, prev: null };
  if (typeof count !== 'number')
    return {
      rows,
      count: rows.length,
      page: { total: all.length, totalIs: undefined, hasNext: undefined, ...others },
    };
  const hasNext = all.length > end;
  // The last page shows how many rows there are, whatever was to be counted.
  const isKnown = !hasNext && (rows.length > 0 || page === 1);
  const total = isKnown || all.length <= count ? all.length : count;
  const totalIs = isKnown || (count > 0 && all.length <= count) ? 'exact' : 'at_least';
  const counted =
    count === 0 && !isKnown ? ({ total: null, totalIs: 'none' } as const) : ({ total, totalIs } as const);
  return { rows, count: rows.length, page: { ...counted, hasNext, ...others } };
}

/** NULL is behind everything, as PostgreSQL has it. */
function sorted(rows: readonly ShelfRow[], order: readonly SortTerm[]): readonly ShelfRow[] {
  return [...rows].sort((one, other) => {
    for (const { attribute, descending } of order) {
      const [first = null, second = null] = [textsOf(one)[attribute], textsOf(other)[attribute]];
      const compare = COMPARATORS[attribute as keyof typeof COMPARATORS];
      const isBehind =
        first === null || second === null
          ? Number(first === null) - Number(second === null)
          : compare(first, second);
      if (isBehind !== 0) return descending ? -isBehind : isBehind;
    }
    return 0;
  });
}

function textsOf({ id, title, pages, owner, isDeleted }: ShelfRow): Readonly<Record<string, string | null>> {
  return {
    id: String(id),
    title,
    pages: pages === null ? null : String(pages),
    owner: String(owner),
    deletedAt: isDeleted ? 'at some moment' : null,
  };
}
