/** Executes statements through the public interface of pg, for versions and drivers of which nothing else is known. */

import { isQueryTimeout } from '../errors/database-fault.js';
import type { Batch, Execution, Preceding, TextResult, TextRow } from './batch.js';
import { PreparedStatement, type TextParser } from './prepared-statement.js';

/** A description of columns, as pg has it. */
export interface Fields {
  readonly fields: readonly { readonly dataTypeID: number }[];
}

/** Result of the public interface with `rowMode: 'array'`. */
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
export function executePortably(client: PublicClient, batch: Batch): void {
  const { before, statement, executions, end } = batch;
  if (before.length > 0) return void executeInTransaction(client, batch);
  const last = executions.at(-1);
  for (const execution of executions) {
    ask(client, { statement, values: execution.values }, (error, result) => {
      if (execution === last) end(error);
      execution.settle(error, result);
    });
  }
}

/** Executes what one Sync covers elsewhere: each statement after the last has succeeded, answered after the commit. */
async function executeInTransaction(
  client: PublicClient,
  { before, statement, executions, end }: Batch,
): Promise<void> {
  const results: TextResult[] = [];
  let failure: Error | null = null;
  let isOver = true;
  try {
    await answerOf(client, BEGIN);
    for (const preceding of before) await answerOf(client, preceding);
    for (const { values } of executions) results.push(await answerOf(client, { statement, values }));
    await answerOf(client, COMMIT);
  } catch (error) {
    failure = error as Error;
    isOver = !isQueryTimeout(failure) && Boolean(await answerOf(client, ROLLBACK).catch(() => null));
  }
  end(
    isOver ? failure : Object.assign(new Error('It may still be in the transaction.'), { severity: 'FATAL' }),
  );
  for (const [index, execution] of executions.entries()) execution.settle(failure, results[index]);
}

const BEGIN = command('START TRANSACTION');
const COMMIT = command('COMMIT');
const ROLLBACK = command('ROLLBACK');

function command(text: string): Preceding {
  return { statement: new PreparedStatement(text, ''), values: [] };
}

function answerOf(client: PublicClient, asked: Preceding): Promise<TextResult> {
  return new Promise((resolve, reject) => {
    ask(client, asked, (error, result) => (error ? reject(error) : resolve(result as TextResult)));
  });
}

function ask(client: PublicClient, { statement, values }: Preceding, settle: Execution['settle']): void {
  const query = { text: statement.text, values, rowMode: 'array', types: { getTypeParser: () => asText } };
  client.query(query, (error, result) => {
    if (error || !result) return settle(error);
    const { rows, rowCount } = result;
    settle(null, { rows, count: rowCount ?? 0, parsers: parsersOf(statement, client, result) });
  });
}

const asText: TextParser = (text) => text;

/** This client's parsers of the columns of a statement's results. */
export function parsersOf(
  statement: PreparedStatement,
  client: PublicClient,
  { fields }: Fields,
): readonly TextParser[] {
  const oids = fields.map(({ dataTypeID }) => dataTypeID);
  return statement.parsersFor(oids, (oid) => client.getTypeParser(oid, 'text'));
}
