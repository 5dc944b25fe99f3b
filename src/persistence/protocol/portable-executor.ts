/** Executes statements through the public interface of pg, for versions and drivers of which nothing else is known. */
import type { Batch, TextRow } from './batch.js';
import type { PreparedStatement, TextParser } from './prepared-statement.js';

/** A description of columns, as pg has it. */
export interface Fields {
  readonly fields: readonly { readonly dataTypeID: number }[];
}

/** What the interface gives with `rowMode: 'array'`. */
interface PublicResult extends Fields {
  readonly rows: readonly TextRow[];
  readonly rowCount: number | null;
}

/** A client, as it is documented. */
export interface PublicClient {
  getTypeParser(oid: number, format: 'text'): TextParser;
  query(query: object, callback?: (error: Error | null, result?: PublicResult) => void): unknown;
}

/** One after the other. Not prepared under a name, because pg refuses to give a name to another text later. */
export function executePortably(client: PublicClient, { before, statement, executions, end }: Batch): void {
  if (before) throw new TypeError('Only pg executes a statement before another one.');
  const last = executions.at(-1);
  for (const execution of executions) {
    const { values } = execution;
    const query = { text: statement.text, values, rowMode: 'array', types: { getTypeParser: () => asText } };
    client.query(query, (error, result) => {
      if (execution === last) end(error);
      if (error || !result) return execution.settle(error);
      const { rows, rowCount } = result;
      execution.settle(null, { rows, count: rowCount ?? 0, parsers: parsersOf(statement, client, result) });
    });
  }
}

const asText: TextParser = (text) => text;

/** How this client reads the columns of a statement's results. */
export function parsersOf(
  statement: PreparedStatement,
  client: PublicClient,
  { fields }: Fields,
): readonly TextParser[] {
  const oids = fields.map(({ dataTypeID }) => dataTypeID);
  return statement.parsersFor(oids, (oid) => client.getTypeParser(oid, 'text'));
}
