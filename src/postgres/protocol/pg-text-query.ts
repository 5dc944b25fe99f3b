/**
 * Executes statements on a connection of pg, with results as the texts that PostgreSQL sent. pg's own query object requests a
 * description of the results each time, makes an object of each row and finds a parser for each value. That costs more
 * than the rest of a read.
 */
import pg from 'pg';
import { QUERY_TIMEOUT } from '../../errors/database-fault.js';
import { type Batch, BatchAbortedError, type Execution, type Preceding, type TextRow } from './batch.js';
import { timeoutDriver } from './pg-client.js';
import {
  activeQueryOf,
  type DriverClient,
  type DriverConnection,
  HAS_PIPELINE,
  isTraced,
  markBroken,
  pgProblem,
} from './pg-internals.js';
import {
  type Preparation,
  Preparations,
  type PreparedStatement,
  type TextParser,
} from './prepared-statement.js';
import { MAX_RESULT, ResultBytes, SMALL_RESULT } from './result-limit.js';
import { isStale, noteOutdated } from './stale-statement.js';
import { type SentQuery, TracedBatch } from './traced-batch.js';
import { type BackendMessageHandler, BackendMessageParser, serializeExecutions } from './wire-messages.js';

/** The module of the driver. */
export interface Driver {
  readonly Query?: { readonly prototype: object };
}

/**
 * Takes PostgreSQL's error of an outdated preparation, true where an earlier error of the connection had announced it, and true where the
 * preparation was new.
 */
export type OnStale = (error: Error, isExpected: boolean, isFresh: boolean) => void;

/** Executes statements on the connections of one driver. */
export interface StatementExecutor {
  /** True where a batch may have several executions, and several batches may be under way on a connection. */
  readonly canPipeline: boolean;
  execute(client: DriverClient, batch: Batch): void;
}

/** True for pg as it is installed here. */
export function isInstalledPg(driver: Driver | undefined): boolean {
  return driver === pg || driver === timeoutDriver;
}

/**
 * The executor for a driver. Where the driver is unknown, Sequelize sends all but the statements of features. PostgreSQL's errors of
 * outdated preparations are passed to `onStale`.
 */
export function createExecutor(driver: Driver, onStale: OnStale): StatementExecutor {
  if (!isInstalledPg(driver) || pgProblem()) return { canPipeline: false, execute: executePublicly };
  const Query = textQueryClass(driver.Query as { readonly prototype: object }, onStale);
  return {
    canPipeline: HAS_PIPELINE,
    execute(client, batch) {
      traceSending(batch);
      const { connectionParameters } = client;
      const { query_timeout: own } = connectionParameters;
      const limit = client.queryTimeout ?? own;
      // pg reads it now, and only to start a timer of its own.
      connectionParameters.query_timeout = false;
      try {
        const traced = isTraced() ? new TracedBatch(client, batch) : null;
        const query = new Query(client, traced?.batch ?? batch);
        if (limit) query.limit(limit * (1 + (batch.behind ?? 0)));
        (traced ?? client).query(query);
      } finally {
        connectionParameters.query_timeout = own;
      }
    },
  };
}

/** @throws TypeError for a statement with others before it, such as the settings of a request: they would be left out */
function executePublicly(client: DriverClient, batch: Batch): void {
  const { statement, executions, end, before } = batch;
  if (before.some(({ values }) => values.length > 0))
    throw new TypeError('A driver other than the installed pg has no statements before another one.');
  traceSending(batch);
  const [{ values, settle }] = executions as [Execution];
  const query = { text: statement.text, values, rowMode: 'array', types: { getTypeParser: () => asText } };
  client.query(query, (error, result) => {
    if (error) markBroken(client, error);
    end(error);
    settle(error, result && { rows: result.rows, count: result.rowCount ?? 0, parsers: [] });
  });
}

const asText: TextParser = (text) => text;

function traceSending({ executions }: Batch): void {
  for (const { trace } of executions) trace?.sent(executions.length);
}

interface Fields {
  readonly fields: readonly { readonly dataTypeID: number }[];
}

type TextQueryClass = new (client: DriverClient, batch: Batch) => SentQuery;

/**
 * The query object. It is a `pg.Query` by its prototype, for `instanceof`, without the constructor of that class. pg calls its
 * methods for the messages of the protocol (53.2.3 and 53.7 of PostgreSQL's manual). The query is done for pg when PostgreSQL
 * is ready for the next one.
 */
function textQueryClass(Query: { readonly prototype: object }, onStale: OnStale): TextQueryClass {
  class TextQuery implements BackendMessageHandler {
    readonly text: string;
    readonly #client: DriverClient;
    readonly #batch: Batch;
    /** Results of the executions so far. Not `rows`: pg takes that for a limit. */
    readonly #results: {
      readonly rows: TextRow[] | Error;
      readonly count: number;
      readonly bytes: number;
    }[] = [];
    /** Rows of the execution whose result arrives, or why they are refused. */
    #rows: TextRow[] | Error = [];
    /** True for a read. A write has happened: its rows are returned, however many bytes they have. */
    readonly #isLimited: boolean;
    /** Bytes of the result that arrives, of a read. */
    #size = 0;
    /** Their limit, from the first large result on. */
    #bytes: ResultBytes | null = null;
    /** Preparation that is executed, even if the connection prepares another one under the same name meanwhile. */
    #preparation: Preparation;
    /** Preparations of the statements that come first. */
    #before: Preparation[];
    /** True where this query prepares any of them. */
    #isPreparing = false;
    /** True where the connection had prepared the statement before. */
    #wasPrepared = false;
    /** Number of statements before it that are still to be done. */
    #beforeLeft: number;
    #isOver = false;
    #timer: NodeJS.Timeout | undefined;

    constructor(client: DriverClient, batch: Batch) {
      const { statement, before } = batch;
      this.text = statement.text;
      this.#beforeLeft = before.length;
      this.#client = client;
      this.#isLimited = statement.text.startsWith('SELECT');
      this.#batch = batch;
      this.#preparation = unprepared(statement);
      this.#before = before.map((preceding) => unprepared(preceding.statement));
    }

    /** Abandons the query after so many milliseconds. */
    limit(milliseconds: number): void {
      this.#timer = setTimeout(() => this.#giveUp(), milliseconds).unref();
    }

    /** Abandons the query as pg does, with the same error. Queries behind it will get no answers either. */
    #giveUp(): void {
      this.#fail(new Error(QUERY_TIMEOUT));
      if (this.#client.pipeline) this.#client.connection?.stream.destroy();
    }

    submit(connection: DriverConnection): null {
      const { before, statement, executions } = this.#batch;
      const { name } = statement;
      const kept = preparationsOf(connection, this.#client, TextQuery);
      const known = kept.find(statement);
      // Where the one was lost the other may be, too, and a query is executed once more at most.
      const isLost = !known && name !== '';
      const knownBefore = before.map((preceding) => (isLost ? undefined : kept.find(preceding.statement)));
      if (known) this.#preparation = known;
      this.#wasPrepared = known !== undefined;
      this.#before = this.#before.map((preparation, index) => knownBefore[index] ?? preparation);
      const isUnknown = (preceding: Preceding, index: number) =>
        preceding.statement.name !== '' && !knownBefore[index];
      this.#isPreparing = !known || before.some(isUnknown);
      if (this.#preparation.parsers !== null && !this.#isPreparing) {
        connection.stream.write(serializeExecutions(name, executions, before));
        return null;
      }
      connection.stream.cork();
      // Before all else, because nothing is done behind a message that fails.
      const statements = [statement, ...before.map((preceding) => preceding.statement)];
      for (const unused of kept.makeRoom(statements)) connection.close({ type: 'S', name: unused });
      for (const [index, preceding] of before.entries()) {
        // Behind a pooler, where the one was lost, it may be there already although this connection never prepared it.
        if (!knownBefore[index]) prepare(connection, kept, this.#before[index] as Preparation, isLost);
        connection.bind({ statement: preceding.statement.name, values: preceding.values });
        connection.execute({});
      }
      if (!known) prepare(connection, kept, this.#preparation);
      executions.forEach(({ values }, index) => {
        connection.bind({ statement: name, values });
        if (index === 0) connection.describe({ type: 'P', name: '' });
        connection.execute({});
      });
      connection.sync();
      connection.stream.uncork();
      return null;
    }

    handleRowDescription(message: Fields): void {
      this.#preparation.parsers = parsersOf(this.#batch.statement, this.#client, message);
    }

    handleDataRow({ fields, length }: { fields: TextRow; length: number }): void {
      // Rows of an abandoned query still arrive, until its connection is closed.
      if (this.#isOver || !Array.isArray(this.#rows)) return;
      const refusal = this.#isLimited ? this.#count(length) : null;
      if (refusal) this.#rows = refusal;
      else this.#rows.push(fields);
    }

    /** Counts bytes of a read; why its result is refused. */
    #count(length: number): Error | null {
      this.#size += length;
      if (this.#bytes) return this.#bytes.add(length);
      if (this.#size <= SMALL_RESULT) return null;
      this.#bytes = new ResultBytes(MAX_RESULT);
      return this.#bytes.add(this.#size);
    }

    handleCommandComplete({ text }: { text: string }): void {
      const rows = this.#rows;
      this.#rows = [];
      const bytes = this.#size;
      this.#size = 0;
      this.#bytes?.next(true);
      if (this.#beforeLeft > 0) {
        this.#beforeLeft -= 1;
        return;
      }
      // The tag ends with the number of rows: "UPDATE 1".
      const count = Number(text.slice(text.lastIndexOf(' ') + 1));
      this.#results.push({ rows, count, bytes });
    }

    handleEmptyQuery(): void {}

    handleError(error: Error): void {
      // The next one closes the names and prepares them again. A statement may have failed before it was prepared.
      if (this.#wasPrepared) noteOutdated(error);
      const isStaleNow = isStale(error);
      // By the failure of a query before it, which was to prepare the name.
      const isExpected = this.#preparation.isLost || this.#before.some(({ isLost }) => isLost);
      if (this.#isPreparing || isStaleNow) {
        this.#preparation.isLost = true;
        for (const preparation of this.#before) preparation.isLost = true;
      }
      if (isStaleNow)
        onStale(error, isExpected, !this.#wasPrepared && this.#preparation.statement.name !== '');
      this.#fail(error);
    }

    /** Now it is committed, too. */
    handleReadyForQuery(): void {
      // pg takes the next query from here on, and the end of a batch often sends one.
      this.#client.turns?.end();
      if (!this.#end(null)) return;
      const { statement, executions } = this.#batch;
      // Statements that return no rows have no description.
      this.#preparation.parsers ??= parsersOf(statement, this.#client, { fields: [] });
      const { parsers } = this.#preparation;
      this.#results.forEach(({ rows, count, bytes }, index) => {
        if (Array.isArray(rows)) executions[index]?.settle(null, { rows, count, parsers, bytes });
        else executions[index]?.settle(rows);
      });
    }

    /** Finds the execution that failed by an error of the database: the first without a result, or the commit. */
    #fail(error: Error): void {
      if (!this.#end(error)) return;
      const { executions } = this.#batch;
      const failed = Math.min(this.#results.length, executions.length - 1);
      const isOfOne = 'severity' in error;
      executions.forEach((execution, index) => {
        execution.settle(isOfOne && index !== failed ? new BatchAbortedError() : error);
      });
    }

    /** Ends the query; false where it was over before. */
    #end(error: Error | null): boolean {
      if (this.#isOver) return false;
      this.#isOver = true;
      this.#rows = [];
      this.#bytes?.end();
      clearTimeout(this.#timer);
      if (error) markBroken(this.#client, error);
      this.#batch.end(error);
      return true;
    }
  }
  Object.setPrototypeOf(TextQuery.prototype, Query.prototype);
  return TextQuery;
}

function parsersOf(
  statement: PreparedStatement,
  client: DriverClient,
  { fields }: Fields,
): readonly TextParser[] {
  const oids = fields.map(({ dataTypeID }) => dataTypeID);
  return statement.parsersFor(oids, (oid) => client.getTypeParser(oid, 'text'));
}

function unprepared(statement: PreparedStatement): Preparation {
  return { statement, parsers: null, isLost: false };
}

/** @param mayBeThere true where the name may be in use although this connection has not prepared it */
function prepare(
  connection: DriverConnection,
  kept: Preparations,
  preparation: Preparation,
  mayBeThere = false,
): void {
  const { text, name } = preparation.statement;
  if (name !== '' && (mayBeThere || kept.has(name))) connection.close({ type: 'S', name });
  connection.parse({ name, text, types: [] });
  kept.add(preparation);
}

/** Prepared statements of each connection. Not pg's `parsedStatements`, which have one text for a name and no more. */
const preparations = new WeakMap<DriverConnection, Preparations>();

function preparationsOf(
  connection: DriverConnection,
  client: DriverClient,
  Handler: HandlerClass,
): Preparations {
  let kept = preparations.get(connection);
  if (kept === undefined) {
    parseAnswers(connection, client, Handler);
    kept = new Preparations();
    preparations.set(connection, kept);
  }
  return kept;
}

type HandlerClass = new (...args: never[]) => BackendMessageHandler;

/** From the first query on, which prepares a statement and finds the connection at rest. pg goes on to read all else. */
function parseAnswers(connection: DriverConnection, client: DriverClient, Handler: HandlerClass): void {
  const { stream } = connection;
  const [listener, ...others] = stream.listeners('data') as ((bytes: Buffer) => void)[];
  if (listener === undefined || others.length > 0) return;
  const currentHandler = () => {
    const query = activeQueryOf(client);
    return query instanceof Handler ? query : null;
  };
  const reader = new BackendMessageParser(currentHandler, listener);
  stream.off('data', listener);
  stream.on('data', (bytes: Buffer) => {
    try {
      reader.read(bytes);
    } catch (error) {
      // Thrown by a listener of notices, say. The rest of the message is lost, so no query may wait for answers here.
      stream.destroy();
      throw error;
    }
  });
}
