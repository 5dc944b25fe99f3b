/**
 * The ranges behind a place, asked of PostgreSQL: any walk, with turns, over rows that come and go, meets the rows next to
 * its place and no others, and each range is one scan of the index on the order.
 */
// @runs once
import { expect } from 'chai';
import fc from 'fast-check';
import { Client } from 'pg';
import { DataTypes } from 'sequelize';
import { type KeyTerm, keyTerms, rangesAfter, reversed } from '../../../src/execute/sql/keyset-sql.js';
import {
  boundText,
  identifier,
  joinSql,
  raw,
  type SqlFragment,
  sql,
} from '../../../src/execute/sql/sql-fragment.js';
import { toStatement } from '../../../src/execute/sql/statement.js';
import { forSuite } from '../../support/for-suite.js';
import { defineModel, infoOf } from '../../support/offline-models.js';
import { freshDatabase } from '../../support/postgres.js';
import { HARD_VALUES } from '../../support/specimen.js';

const TYPES = {
  text: { type: DataTypes.TEXT, column: 'text COLLATE "C"' },
  exact: { type: DataTypes.DECIMAL, column: 'numeric' },
  moment: { type: DataTypes.DATE, column: 'timestamptz' },
  big: { type: DataTypes.BIGINT, column: 'bigint' },
} as const;
type TypeName = keyof typeof TYPES;
const TYPE_NAMES = Object.keys(TYPES) as TypeName[];

/** A column of each type that cannot be null, and one that can. */
const COLUMNS = TYPE_NAMES.flatMap((name) => [name, `${name}OrNull`]);
const info = infoOf(
  defineModel('Row', {
    id: { type: DataTypes.INTEGER, primaryKey: true },
    ...Object.fromEntries(
      COLUMNS.map((name) => [name, { type: typeOf(name).type, allowNull: isNullable(name) }]),
    ),
  }),
);
const column = (name: string): SqlFragment => raw(identifier(name));

interface Row {
  readonly values: Readonly<Record<string, string | null>>;
  readonly isThere: boolean;
}

/** A page, and what happens before it. */
interface Step {
  readonly isBackward: boolean;
  readonly isInclusive: boolean;
  readonly size: number;
  /** Rows that come or go, by their number. */
  readonly changes: readonly number[];
}

interface Journey {
  readonly sort: readonly { readonly attribute: string; readonly descending: boolean }[];
  readonly rows: readonly Row[];
  readonly steps: readonly Step[];
}

/** A row that a page ends with. */
type Key = readonly (string | null)[];

interface PlanNode {
  readonly 'Node Type': string;
  readonly Filter?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  // Mostly on in one direction, which is what walks do.
  isBackward: fc.oneof(
    { weight: 3, arbitrary: fc.constant(false) },
    { weight: 2, arbitrary: fc.constant(true) },
  ),
  isInclusive: fc.oneof(
    { weight: 4, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  size: fc.integer({ min: 1, max: 5 }),
  changes: fc.array(fc.nat(1_000), { maxLength: 3 }),
});

const sortArbitrary = fc.uniqueArray(
  fc.record({ attribute: fc.constantFrom('id', ...COLUMNS), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ attribute }) => attribute },
);

const journeyArbitrary: fc.Arbitrary<Journey> = sortArbitrary.chain((sort) => {
  const values = sort
    .filter(({ attribute }) => attribute !== 'id')
    .map(({ attribute }) => {
      const known = fc.constantFrom<string>(...HARD_VALUES[nameOf(attribute)]);
      return [attribute, isNullable(attribute) ? fc.option(known, { freq: 2 }) : known] as const;
    });
  const row = fc.record({ values: fc.record(Object.fromEntries(values)), isThere: fc.boolean() });
  return fc.record({
    sort: fc.constant(sort),
    rows: fc.array(row, { minLength: 1, maxLength: 25, size: 'max' }),
    steps: fc.array(stepArbitrary, { maxLength: 15, size: 'max' }),
  });
});

/** One walk over one table, in a transaction that leaves nothing. */
class Walk {
  readonly #client: Client;
  readonly #terms: readonly KeyTerm[];
  /** All rows that there ever are, in their order. */
  readonly #ranks: number[] = [];
  readonly #there = new Set<number>();
  /** Their order and that of the index. */
  readonly #order: string;
  #rows: readonly Row[] = [];

  constructor(client: Client, { sort }: Journey) {
    this.#client = client;
    this.#terms = keyTerms(info, sort);
    this.#order = orderOf(this.#terms);
  }

  async run({ rows, steps }: Journey): Promise<void> {
    this.#rows = rows;
    await this.#client.query(`CREATE INDEX the_order ON rows (${this.#order})`);
    for (const id of rows.keys()) await this.#insert(id);
    const { rows: sorted } = await this.#client.query<{ id: number }>(
      `SELECT id FROM rows ORDER BY ${this.#order}`,
    );
    this.#ranks.push(...sorted.map(({ id }) => id));
    for (const [id, { isThere }] of rows.entries()) if (!isThere) await this.#delete(id);
    await this.#walk(steps);
  }

  async #walk(steps: readonly Step[]): Promise<void> {
    let place: { readonly id: number; readonly key: Key } | null = null;
    for (const { isBackward, isInclusive, size, changes } of steps) {
      for (const change of changes) await this.#change(change % this.#rows.length);
      const walk = isBackward ? reversed(this.#terms) : this.#terms;
      const ranges: readonly SqlFragment[] = place
        ? rangesAfter(walk, { values: place.key, isInclusive }, column)
        : [raw('true')];
      const page = await this.#page(walk, ranges, size);
      const ids = page.map(({ id }) => id);
      expect(ids).to.deep.equal(this.#expected(place?.id, isBackward, isInclusive).slice(0, size));
      place = page.at(-1) ?? place;
    }
  }

  /** The rows that are there behind a place, nearest first. */
  #expected(place: number | undefined, isBackward: boolean, isInclusive: boolean): number[] {
    const walk = isBackward ? this.#ranks.toReversed() : this.#ranks;
    const start = place === undefined ? 0 : walk.indexOf(place) + (isInclusive ? 0 : 1);
    return walk.slice(start).filter((id) => this.#there.has(id));
  }

  async #page(walk: readonly KeyTerm[], ranges: readonly SqlFragment[], size: number) {
    const found: { readonly id: number; readonly key: Key }[] = [];
    const key = walk.map(({ attribute }) => `${identifier(attribute)}::text`).join(', ');
    for (const range of ranges) {
      const limit = size - found.length;
      if (limit === 0) break;
      const query = joinSql(
        [
          sql`SELECT id, ARRAY[${raw(key)}] AS key FROM rows WHERE ${range}`,
          raw(`ORDER BY ${orderOf(walk)}`),
        ],
        ' ',
      );
      const { text, values } = toStatement(joinSql([query, raw(`LIMIT ${limit}`)], ' '));
      const texts = values.map(boundText);
      await this.#expectRangeScan(text, texts);
      const { rows } = await this.#client.query<{ id: number; key: Key }>(text, texts);
      found.push(...rows);
    }
    return found;
  }

  /** Nothing but a limit and the index: no row is read that is thrown away, and none is sorted. */
  async #expectRangeScan(text: string, values: readonly string[]): Promise<void> {
    const { rows } = await this.#client.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      `EXPLAIN (FORMAT JSON, COSTS OFF) ${text}`,
      [...values],
    );
    const limit = rows[0]?.['QUERY PLAN'][0]?.Plan;
    const scan = limit?.Plans?.[0];
    expect([limit?.['Node Type'], scan?.['Node Type']], text).to.deep.equal(['Limit', 'Index Scan']);
    expect(scan, text).not.to.have.property('Filter');
    if (!text.includes('WHERE true')) expect(scan, text).to.have.property('Index Cond');
  }

  async #change(id: number): Promise<void> {
    if (this.#there.has(id)) await this.#delete(id);
    else await this.#insert(id);
  }

  async #insert(id: number): Promise<void> {
    this.#there.add(id);
    const values = Object.entries(this.#rows[id]?.values ?? {});
    const names = ['id', ...values.map(([name]) => identifier(name))].join(', ');
    const places = ['$1', ...values.map((_, index) => `$${index + 2}`)].join(', ');
    const texts = [`${id}`, ...values.map(([, value]) => value)];
    await this.#client.query(`INSERT INTO rows (${names}) VALUES (${places})`, texts);
  }

  async #delete(id: number): Promise<void> {
    this.#there.delete(id);
    await this.#client.query('DELETE FROM rows WHERE id = $1', [id]);
  }
}

function isNullable(name: string): boolean {
  return name.endsWith('OrNull');
}

function nameOf(column: string): TypeName {
  return column.replace('OrNull', '') as TypeName;
}

function typeOf(column: string) {
  return TYPES[nameOf(column)];
}

function orderOf(terms: readonly KeyTerm[]): string {
  return terms
    .map(({ attribute, descending }) => `${identifier(attribute)}${descending ? ' DESC' : ''}`)
    .join(', ');
}

describe('ranges behind a place', () => {
  after(() => client.end());

  const database = forSuite(() => freshDatabase('ranges'));
  let client: Client;

  before(async () => {
    client = new Client({ connectionString: database.url });
    await client.connect();
    const columns = COLUMNS.map((name) => {
      const { column: type } = typeOf(name);
      const rest = isNullable(name) ? '' : ` NOT NULL DEFAULT '${HARD_VALUES[nameOf(name)][0]}'`;
      return `${identifier(name)} ${type}${rest}`;
    });
    await client.query(`CREATE TABLE rows (id integer NOT NULL, ${columns.join(', ')})`);
    for (const kind of ['seqscan', 'bitmapscan', 'indexonlyscan', 'sort', 'incremental_sort'])
      await client.query(`SET enable_${kind} = off`);
  });

  it('are scans of the index on the order that meet each row once, wherever a walk turns', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async (journey) => {
      await client.query('BEGIN');
      await new Walk(client, journey).run(journey).finally(() => client.query('ROLLBACK'));
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
