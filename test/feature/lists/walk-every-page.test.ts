/**
 * A walk through all pages of a cursor list, forward and backward, reads every row once and in order. The tables are random, with
 * ties, NULLs and the extreme values of every type, and other rows come and go.
 */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import type { SortTerm } from '../../../src/index.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import { wholeOr } from '../../support/short.js';
import { HARD_VALUES, type HardColumn, SORT_COLUMNS, Specimen } from '../../support/specimen.js';
import { type SpecimenRow, SpecimenTable } from '../../support/specimen-table.js';
import { serveTestApp } from '../../support/test-app.js';

/** A change of other rows between two pages. */
type Change =
  | { readonly kind: 'insert'; readonly row: SpecimenRow }
  | { readonly kind: 'delete'; readonly choice: number };

interface Journey {
  readonly terms: readonly SortTerm[];
  readonly size: number;
  /** These are there all the time. */
  readonly lasting: readonly SpecimenRow[];
  /** These may be deleted. */
  readonly passing: readonly SpecimenRow[];
  readonly changes: readonly (readonly Change[])[];
}

interface Answer {
  readonly items: readonly { readonly id: number }[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

/** Number of random walks; 250 and more find rare faults. */
const WALKS = Number(process.env['CRUD_TEST_WALKS'] ?? wholeOr(40, 120));
const idArbitrary = fc.integer({ min: -2147483648, max: 2147483647 });

function rowArbitrary(terms: readonly SortTerm[]): fc.Arbitrary<SpecimenRow> {
  const columns = terms.filter(({ attribute }) => attribute !== 'id').map(({ attribute }) => attribute);
  const values = columns.map((name) => {
    const known = fc.constantFrom<string>(...HARD_VALUES[name.replace('OrNull', '') as HardColumn]);
    return [name, name.endsWith('OrNull') ? fc.option(known, { freq: 2 }) : known] as const;
  });
  return fc.record({ id: idArbitrary, values: fc.record(Object.fromEntries(values)) });
}

const termsArbitrary: fc.Arbitrary<SortTerm[]> = fc.uniqueArray(
  fc.record({ attribute: fc.constantFrom('id', ...SORT_COLUMNS), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ attribute }) => attribute },
);

const journeyArbitrary: fc.Arbitrary<Journey> = termsArbitrary.chain((terms) => {
  const row = rowArbitrary(terms);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), row }),
    fc.record({ kind: fc.constant('delete' as const), choice: fc.nat() }),
  );
  return fc
    .record({
      terms: fc.constant(terms),
      size: fc.integer({ min: 1, max: 7 }),
      rows: fc.uniqueArray(row, { maxLength: 30, size: 'max', selector: ({ id }) => id }),
      share: fc.integer({ min: 0, max: 10 }),
      changes: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 15, size: 'max' }),
    })
    .map(({ rows, share, ...journey }) => {
      const count = Math.ceil((rows.length * share) / 10);
      return { ...journey, lasting: rows.slice(0, count), passing: rows.slice(count) };
    });
});

/** One walk, with its pages and changes. */
class Walk {
  readonly seen: number[] = [];
  readonly #table: SpecimenTable;
  readonly #url: string;
  readonly #journey: Journey;
  readonly #used: Set<number>;
  readonly #passing: number[];
  #changes: (readonly Change[])[];

  constructor(table: SpecimenTable, url: string, journey: Journey) {
    this.#table = table;
    this.#url = url;
    this.#journey = journey;
    this.#passing = journey.passing.map(({ id }) => id);
    this.#used = new Set([...journey.lasting, ...journey.passing].map(({ id }) => id));
    this.#changes = [...journey.changes];
  }

  /** Goes on to the last page, and returns it. */
  async forward(): Promise<Answer> {
    let page = await this.#page({});
    this.seen.push(...idsOf(page));
    while (page.next_cursor !== null) {
      await this.#change();
      page = await this.#page({ after: page.next_cursor });
      this.seen.push(...idsOf(page));
    }
    return page;
  }

  /** Goes from the last page back to the first. */
  async backward(last: Answer): Promise<void> {
    let page = last;
    this.seen.push(...idsOf(page));
    while (page.prev_cursor !== null) {
      await this.#change();
      page = await this.#page({ before: page.prev_cursor });
      this.seen.unshift(...idsOf(page));
    }
  }

  async #page(place: Record<string, string>): Promise<Answer> {
    const { terms, size } = this.#journey;
    const sort = terms.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`).join(',');
    const query = new URLSearchParams({ sort, size: String(size), fields: 'id', ...place });
    const response = await fetch(`${this.#url}/specimens?${query}`);
    const page = (await response.json()) as Answer;
    expect(response.status, JSON.stringify(page)).to.equal(200);
    await this.#compare(page);
    return page;
  }

  /** A page is a piece of the table as it is now, and its envelope is right about both sides of it. */
  async #compare(page: Answer): Promise<void> {
    const all = await this.#table.sortedIds(this.#journey.terms);
    const ids = idsOf(page);
    const start = all.indexOf(ids[0] ?? Number.NaN);
    if (ids.length === 0) {
      // Everything that is left lies on the side that the walk came from.
      expect([page.has_prev, page.has_next].filter(Boolean)).to.have.lengthOf(all.length > 0 ? 1 : 0);
      return;
    }
    expect(ids).to.deep.equal(all.slice(start, start + ids.length));
    const sides = [start > 0, start + ids.length < all.length];
    expect([page.has_prev, page.has_next]).to.deep.equal(sides);
    expect([page.prev_cursor !== null, page.next_cursor !== null]).to.deep.equal(sides);
  }

  async #change(): Promise<void> {
    for (const change of this.#changes.shift() ?? []) {
      if (change.kind === 'insert') await this.#insert(change.row);
      else await this.#delete(change.choice);
    }
  }

  async #insert(row: SpecimenRow): Promise<void> {
    // A row that is deleted and comes back is another one.
    if (this.#used.has(row.id)) return;
    this.#used.add(row.id);
    this.#passing.push(row.id);
    await this.#table.insert([row]);
  }

  async #delete(choice: number): Promise<void> {
    const [id] = this.#passing.splice(choice % Math.max(this.#passing.length, 1), 1);
    if (id !== undefined) await this.#table.delete(id);
  }
}

function idsOf({ items }: Answer): number[] {
  return items.map(({ id }) => id);
}

describe('walking every page', function () {
  this.timeout(120_000);

  const site = serveTestApp(() => ({ models: [Specimen], bootstrap: { logger: new CapturedLog() } }));
  let table: SpecimenTable;

  before(async () => {
    table = new SpecimenTable(site.engine.sequelize);
    await table.sortTextByLanguage();
  });

  async function expectWholeWalk(journey: Journey): Promise<void> {
    await table.fill([...journey.lasting, ...journey.passing]);
    const lasting = new Set(journey.lasting.map(({ id }) => id));
    const expected = (await table.sortedIds(journey.terms)).filter((id) => lasting.has(id));
    const walk = new Walk(table, site.server.url, journey);
    const last = await walk.forward();
    expectOnce(walk.seen.splice(0), lasting, expected);
    await walk.backward(last);
    expectOnce(walk.seen, lasting, expected);
  }

  it('[D14 D15] gives every row that is there throughout once and in order', async () =>
    await fc.assert(fc.asyncProperty(journeyArbitrary, expectWholeWalk), { numRuns: WALKS }));

  it('gives the same of a model with a hook on its queries', async () => {
    using _hook = addedHook(Specimen, 'beforeFind');
    await fc.assert(fc.asyncProperty(journeyArbitrary, expectWholeWalk), { numRuns: wholeOr(25, 80) });
  });
});

function expectOnce(seen: readonly number[], lasting: ReadonlySet<number>, expected: readonly number[]) {
  expect(seen).to.have.lengthOf(new Set(seen).size);
  expect(seen.filter((id) => lasting.has(id))).to.deep.equal(expected);
}
