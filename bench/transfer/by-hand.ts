/** The limits: `COPY … TO STDOUT`, and `unnest` in chunks of 1,000 rows of a CSV in one transaction. */
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { Client, type Connection, Query } from 'pg';

/** Rows of one statement. */
const CHUNK = 1_000;
const NEWLINE = 10;

/** A query of pg whose copied bytes are counted. */
class CopyOut {
  rows = 0;
  readonly text = 'COPY (SELECT * FROM articles ORDER BY id) TO STDOUT CSV HEADER';
  readonly #settle: (error: Error | null) => void;

  constructor(settle: (error: Error | null) => void) {
    this.#settle = settle;
  }

  submit(connection: Connection): null {
    (connection as Connection & { query(text: string): void }).query(this.text);
    return null;
  }

  /** A message has a row, and its last byte ends the line. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (chunk.at(-1) === NEWLINE) this.rows += 1;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#settle(null);
  }

  handleError(error: Error): void {
    this.#settle(error);
  }
}

Object.setPrototypeOf(CopyOut.prototype, Query.prototype);

/** Copies all articles; returns their number. */
export async function copyArticles(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const copy = await new Promise<CopyOut>((resolve, reject) => {
      const query: CopyOut = new CopyOut((error) => (error ? reject(error) : resolve(query)));
      client.query(query as never);
    });
    // The header is no row.
    return copy.rows - 1;
  } finally {
    await client.end();
  }
}

const COLUMNS = 'SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::numeric[])';

/** Writes the prices of a CSV; returns their number. */
export async function importPrices(url: string, csv: string, isUpsert: boolean): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const conflict = isUpsert
    ? ' ON CONFLICT (code) DO UPDATE SET name = excluded.name, stock = excluded.stock, price = excluded.price'
    : '';
  const text = `INSERT INTO prices (code, name, stock, price) ${COLUMNS}${conflict} RETURNING id`;
  let count = 0;
  const write = async (rows: readonly string[][]) => {
    const column = (at: number) => rows.map((row) => (row[at] === '' ? null : row[at]));
    const result = await client.query({ name: 'prices', text, values: [0, 1, 2, 3].map(column) });
    count += result.rowCount ?? 0;
  };
  try {
    await client.query('BEGIN');
    let rows: string[][] = [];
    for await (const row of Readable.from([Buffer.from(csv)]).pipe(parse({ from_line: 2 }))) {
      rows.push(row as string[]);
      if (rows.length < CHUNK) continue;
      await write(rows);
      rows = [];
    }
    if (rows.length > 0) await write(rows);
    await client.query('COMMIT');
    return count;
  } finally {
    await client.end();
  }
}
