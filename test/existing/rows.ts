/** Makes rows for any tables: the same in each run, with keys that are unique and foreign keys that lead somewhere. */
import type { Client } from 'pg';
import { type Column, type ForeignKey, quote, type Relation } from './tables.js';

/** A row: the text of each column, or null. */
export type Row = Readonly<Record<string, string | null>>;

const ROWS = 13;
/** Plain words, and signs that mean something in `q`, in SQL or in a pattern. */
const WORDS = [
  '',
  'Ann',
  'ann',
  "O'Neil",
  'a*b',
  '50%',
  'a_b',
  'x,y',
  'é ü',
  'q"q',
  'b\\c',
  ' lead',
  '(1);2',
  '日本',
  'Zoë',
  'NULL',
  '~0',
  'a/b',
  '..',
];

/** Values of types for which a number and the place of the column are enough. */
const FORMS: Readonly<Record<string, (spread: number, place: number, row: number) => string>> = {
  money: (spread) => `${spread}.25`,
  boolean: (_, place, row) => `${(row + place) % 2 === 0}`,
  date: (spread, place) => `2025-0${(place % 9) + 1}-${10 + (spread % 18)}`,
  timestamp: (spread, place, row) =>
    `2025-03-01 0${place % 10}:30:${10 + spread}${['', '.1234', '.123456'][row % 3]}`,
  time: (spread) => `${10 + (spread % 13)}:15:00`,
  interval: (spread) => `${spread} days ${spread}:00:00`,
  uuid: (spread, place) => `${10 + spread}a85f64-5717-4562-b3fc-2c963f66${10 + (place % 80)}a6`,
  bytea: (spread) => `\\x${10 + spread}ff00`,
  xml: (spread) => `<a>${spread}</a>`,
  json: (spread) => `{"a": ${spread}, "b": [null, "x"]}`,
  jsonb: (spread) => `{"a": ${spread}, "b": [null, "x"]}`,
  inet: (spread, place) => `10.0.${place}.${spread}`,
  cidr: (spread, place) => `10.0.${place}.${spread}`,
  macaddr: (spread) => `08:00:2b:01:02:${10 + spread}`,
  macaddr8: (spread) => `08:00:2b:01:02:03:04:${10 + spread}`,
  tsvector: (spread) => `'word${spread}'`,
  bit: () => '101',
  'bit varying': (spread) => '101'.slice(0, spread % 4),
  hstore: (spread) => `"a"=>"${spread}", "b"=>NULL`,
  ltree: (spread) => `a.b${spread}`,
  cube: (spread) => `(${spread}, 1)`,
  point: (spread, place) => `(${spread},${place})`,
  box: (spread) => `(${spread},${spread}),(0,0)`,
  circle: (spread) => `<(1,2),${spread}>`,
  path: (spread) => `[(0,0),(${spread},1)]`,
  polygon: (spread) => `((0,0),(${spread},1),(1,0))`,
  lseg: (spread) => `[(0,0),(${spread},1)]`,
  line: (spread) => `{1,2,${spread}}`,
  '"char"': (spread) => 'abcdefgh'.charAt(spread % 8),
  oid: (spread) => `${spread}`,
  xid8: (spread) => `${spread}`,
  pg_lsn: (spread) => `0/${spread}`,
  regclass: () => 'pg_class',
};

const RANGE_BASES: Readonly<Record<string, string>> = {
  int4: 'integer',
  int8: 'bigint',
  num: 'numeric',
  date: 'date',
  ts: 'timestamp',
  tstz: 'timestamp',
};

/** True where there is a form for the type, or any text is one. */
function isKnown({ base, element, labels }: Column): boolean {
  const type = (element ?? base).replace(/ with.*|(multi)?range$/, '');
  return (
    labels !== null ||
    type in FORMS ||
    type in RANGE_BASES ||
    /^(char|text|citext|name|numeric|real|double)|int$|^integer/.test(type)
  );
}

/** The text of a row's value. Those of keys differ from row to row. */
function textOf(column: Column, row: number, place: number, isUnique: boolean): string {
  const { base, element, labels, type } = column;
  const spread = isUnique ? row + 1 : ((row * 7 + place * 3) % 5) + 1;
  const first = labels?.[spread % labels.length];
  if (element) {
    const one = { base: element, type: element, element: null, labels };
    const elements = [0, 1].map((more) => textOf({ ...column, ...one }, row + more, place, isUnique));
    return `{${elements.map((each) => `"${each.replace(/["\\]/g, '\\$&')}"`)},NULL}`;
  }
  const [, bounds = '', isMulti] = /^(.+?)(multi)?range$/.exec(base) ?? [];
  const of = RANGE_BASES[bounds];
  if (of) {
    const bound = (at: number) => textOf({ ...column, base: of, type: of }, at, place, true);
    const range = row % 4 === 2 ? `(,"${bound(row)}")` : `["${bound(row)}","${bound(row + 3)}")`;
    return isMulti ? `{${range}}` : row % 5 === 4 ? 'empty' : range;
  }
  if (first !== undefined) return first;
  if (/int$|^integer/.test(base)) return `${isUnique ? spread : spread - 1}`;
  if (/^(real|double)/.test(base)) return `${isUnique ? spread : spread / 4 - 1}`;
  if (base === 'numeric') {
    const [, digits = '12', scale = '4'] = /\((\d+),(\d+)\)/.exec(type) ?? [];
    const whole = isUnique ? spread : spread % 10 ** Math.min(1, Number(digits) - Number(scale));
    return `${whole}.${'5025'.slice(0, Number(scale))}`;
  }
  const form = FORMS[base.replace(/ with.*/, '')];
  if (form) return form(spread, place, row);
  // A short text that differs comes first, then words that have to be quoted somewhere.
  const word = WORDS[(row * (isUnique ? 1 : 5) + place) % WORDS.length] ?? '';
  const length = Number(/\((\d+)\)/.exec(type)?.[1] ?? 60);
  const whole = isUnique ? `${(row + 36).toString(36)}${word}` : word;
  return [...whole].slice(0, length).join('').trimEnd();
}

/** Makes the rows of one database. */
export class RowMaker {
  readonly #rows = new Map<string, Row[]>();

  constructor(
    private readonly client: Client,
    private readonly relations: readonly Relation[],
  ) {}

  /** Fills the tables that are empty, those that others refer to first. */
  async fill(): Promise<void> {
    for (const table of this.#inOrder()) {
      const found = await this.rowsOf(table);
      for (
        let row = 0;
        found.length === 0 && row < ROWS * 3 && (await this.rowsOf(table)).length < ROWS;
        row += 1
      ) {
        if (await this.insert(table, row)) this.#rows.delete(table.sql);
      }
    }
  }

  /** The rows of a table, as texts. */
  async rowsOf(table: Relation): Promise<Row[]> {
    const known = this.#rows.get(table.sql);
    if (known) return known;
    const columns = table.columns.map(({ name }) => `${quote(name)}::text`).join();
    const { rows } = await this.client.query(`SELECT ${columns} FROM ${table.from} LIMIT 1000`);
    this.#rows.set(table.sql, rows);
    return rows;
  }

  /** Inserts one, unless a constraint refuses it. @returns its texts, and the columns that hold the inserted values */
  async insert(table: Relation, row: number): Promise<{ row: Row; given: readonly string[] } | null> {
    const values = await this.#values(table, row);
    const made = values && (await this.#insert(table, values));
    return made && { row: made, given: Object.keys(values) };
  }

  /** Columns whose values a trigger replaces by others, among those of a row. */
  async replaced(table: Relation, row: Row, given: readonly string[]): Promise<string[]> {
    const made = await this.#insert(
      table,
      Object.fromEntries(given.map((name) => [name, row[name] ?? null])),
    );
    return given.filter((name) => made && made[name] !== row[name]);
  }

  async #insert(table: Relation, values: Row): Promise<Row | null> {
    const names = Object.keys(values);
    const types = new Map(table.columns.map(({ name, type }) => [name, type]));
    const places = names.map((name, at) => `$${at + 1}::text::${types.get(name)}`);
    const into =
      names.length === 0
        ? 'DEFAULT VALUES'
        : `(${names.map(quote)}) OVERRIDING SYSTEM VALUE VALUES (${places})`;
    const shown = table.columns.map(({ name }) => `${quote(name)}::text`);
    await this.client.query('SAVEPOINT made').catch(() => {});
    try {
      const sql = `INSERT INTO ${table.sql} ${into} RETURNING ${shown}`;
      return (await this.client.query(sql, Object.values(values))).rows[0] ?? null;
    } catch {
      await this.client.query('ROLLBACK TO made').catch(() => {});
      return null;
    }
  }

  /** The values of a row; null where a foreign key has nothing to refer to. */
  async #values(table: Relation, row: number): Promise<Record<string, string | null> | null> {
    const unique = new Set([table.key, ...table.uniques].flat());
    const values: Record<string, string | null> = {};
    let radix = 1;
    for (const key of [...table.foreignKeys].sort((a, b) => b.columns.length - a.columns.length)) {
      const inKey = key.columns.some((name) => unique.has(name));
      const found = await this.#parent(table, key, values, inKey ? Math.floor(row / radix) : row);
      const nullable = key.columns.every((name) =>
        table.columns.some((each) => each.name === name && !each.notNull),
      );
      if (nullable && (found === null || row % 4 === 3))
        for (const name of key.columns) values[name] ??= null;
      else if (!found) return null;
      else
        key.columns.forEach((name, at) => {
          values[name] = found.row[key.targetColumns[at] ?? ''] ?? null;
        });
      if (inKey && found) radix *= found.of;
    }
    table.columns.forEach((column, place) => {
      if (
        column.name in values ||
        column.isGenerated ||
        (column.hasDefault && unique.has(column.name) && /int/.test(column.base))
      )
        return;
      if (column.hasDefault && row % 3 === 0) return;
      const isNull = (row + place) % 4 === 1 || !isKnown(column);
      values[column.name] =
        !column.notNull && isNull ? null : textOf(column, row, place, unique.has(column.name));
    });
    return values;
  }

  async #parent(
    table: Relation,
    key: ForeignKey,
    values: Row,
    at: number,
  ): Promise<{ row: Row; of: number } | null> {
    const target = this.relations.find(({ sql }) => sql === key.target);
    const all =
      target && target !== table ? await this.rowsOf(target) : target ? await this.rowsOf(table) : [];
    const fitting = all.filter((each) =>
      key.columns.every(
        (name, place) => !(name in values) || values[name] === each[key.targetColumns[place] ?? ''],
      ),
    );
    const row = fitting[at % fitting.length];
    return row ? { row, of: fitting.length } : null;
  }

  #inOrder(): Relation[] {
    const [done, waiting]: [Relation[], Relation[]] = [
      [],
      this.relations.filter(({ kind }) => kind.endsWith('table') && !kind.startsWith('foreign')),
    ];
    while (waiting.length > 0) {
      const isFree = ({ sql, foreignKeys }: Relation) =>
        foreignKeys.every(({ target }) => target === sql || done.some((each) => each.sql === target));
      // Tables that refer to one another in a circle begin with NULLs.
      const at = Math.max(waiting.findIndex(isFree), 0);
      done.push(...waiting.splice(at, 1));
    }
    return done;
  }
}
