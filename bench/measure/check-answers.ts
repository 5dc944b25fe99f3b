/** Compares the answers of a contender with what PostgreSQL itself says, before anything is measured. */

import { isDeepStrictEqual } from 'node:util';
import type { ArticleValues } from '../contenders/support/article-values.js';
import { COLUMNS } from '../contenders/support/statements.js';
import { DEPTH, randomCategory, randomId, randomValues } from '../load/article.js';
import type { Answer, Ask, Call } from '../load/call.js';
import { createRandom } from '../load/random.js';
import type { Wire } from '../load/wires.js';
import type { WorkloadName } from '../load/workloads.js';
import type { Database } from './database.js';

/** The contender that is checked, and the database with the right answers. */
export interface Examination<W = Wire> {
  readonly wire: W;
  readonly ask: Ask;
  /** The requests of the workload. */
  readonly calls: readonly Call[];
  readonly database: Database;
}

/** A record. */
export type Json = Record<string, unknown>;

/** Rows that are checked where a request may be about any row. */
export const SAMPLES = 25;
const NO_SUCH_ID = 2_000_000_000;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Compares the answers to one kind of load. @throws Difference */
export type Check<W = Wire> = (examination: Examination<W>) => Promise<void>;

/** @returns a message about the first difference, or null */
export async function findDifference<W>(
  check: Check<W>,
  examination: Examination<W>,
): Promise<string | null> {
  try {
    await check(examination);
    return null;
  } catch (error) {
    if (error instanceof Difference) return error.message;
    const { cause } = error as { readonly cause?: { readonly code?: string } };
    // An hour of other measurements is not lost with one server.
    if (cause?.code) return `It did not answer: ${cause.code}.`;
    throw error;
  }
}

/** An answer that is not the one that was expected. */
export class Difference extends Error {}

/** By name of the workload. */
export const CHECKS: Readonly<Record<WorkloadName, Check>> = {
  read: checkReads,
  list20: (examination) => checkList(examination, examination.wire.list(20), '', 20),
  list100: (examination) => checkList(examination, examination.wire.list(100), '', 100),
  total20: checkTotal,
  filter20: checkFilter,
  deep20: checkDepth,
  create: checkCreate,
  update: checkUpdate,
  mix: async (examination) => {
    for (const part of ['read', 'list20', 'filter20', 'create', 'update'] as const) {
      await CHECKS[part](examination);
    }
  },
};

async function checkReads({ wire, ask, database }: Examination): Promise<void> {
  const random = createRandom(2);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const id = randomId(random);
    const call = wire.read(id);
    expectSame(call, (await askFor(ask, call, 200)).body, await readRow(database, id));
  }
  await askFor(ask, wire.read(NO_SUCH_ID), 404);
}

async function checkTotal(examination: Examination): Promise<void> {
  const { wire, ask, database } = examination;
  const call = wire.listWithTotal(20);
  await checkList(examination, call, '', 20);
  expectSame(call, wire.total(await askFor(ask, call, 200)), database.rows);
}

async function checkFilter(examination: Examination): Promise<void> {
  const random = createRandom(3);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const category = randomCategory(random);
    const call = examination.wire.listOfCategory(category, 20);
    await checkList(examination, call, `WHERE category = '${category}'`, 20);
  }
}

async function checkDepth(examination: Examination): Promise<void> {
  const [call] = examination.calls;
  if (call) await checkList(examination, call, `WHERE id > ${DEPTH}`, 20);
}

async function checkCreate({ wire, ask, database }: Examination): Promise<void> {
  const random = createRandom(4);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const values = randomValues(random);
    const call = wire.create(values);
    const { body } = await askFor(ask, call, 201);
    const row = await readRow(database, Number((body as Json)['id']));
    expectSame(call, body, row);
    expectValues(call, row, values);
  }
}

async function checkUpdate({ wire, ask, database }: Examination): Promise<void> {
  const random = createRandom(5);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const id = randomId(random);
    const before = await readRow(database, id);
    const changes = { price: Number(before?.['price']) + 1, stock: Number(before?.['stock']) + 1 };
    const call = wire.update(id, changes);
    const { body } = await askFor(ask, call, 200);
    const after = await readRow(database, id);
    expectSame(call, body, after);
    expectValues(call, after, { ...before, ...changes, updatedAt: after?.['updatedAt'] });
    if (before?.['updatedAt'] === after?.['updatedAt']) {
      throw new Difference(`${name(call)} leaves updatedAt as it was.`);
    }
  }
}

async function checkList(
  { wire, ask, database }: Examination,
  call: Call,
  where: string,
  size: number,
): Promise<void> {
  const rows = await database.query(`SELECT ${COLUMNS} FROM articles ${where} ORDER BY id LIMIT ${size}`);
  expectSame(call, wire.items(await askFor(ask, call, 200)), toJson(rows));
}

async function readRow(database: Database, id: number): Promise<Json | undefined> {
  const [row] = await database.query<Json>(`SELECT ${COLUMNS} FROM articles WHERE id = $1`, [id]);
  return row && (toJson(row) as Json);
}

/** The value as JSON has it: dates are texts. */
export function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export async function askFor(ask: Ask, call: Call, status: number): Promise<Answer> {
  const answer = await ask(call);
  if (answer.status === status) return answer;
  const text = JSON.stringify(answer.body).slice(0, 200);
  throw new Difference(`${name(call)} answers ${answer.status} instead of ${status}: ${text}`);
}

/** The order of properties does not count. */
export function expectSame(call: Call, actual: unknown, expected: unknown): void {
  if (expected !== undefined && isDeepStrictEqual(actual, expected)) return;
  throw new Difference(`${name(call)} gives ${show(actual)} instead of ${show(expected)}.`);
}

/** Everything that was sent is in the row, which has an id and timestamps as well. */
export function expectValues(call: Call, row: Json | undefined, values: ArticleValues | Json): void {
  const { id, createdAt, updatedAt } = row ?? {};
  expectSame(call, row, { id, createdAt, updatedAt, ...values });
  if (![createdAt, updatedAt].every((value) => TIMESTAMP.test(String(value)))) {
    throw new Difference(`${name(call)} sets no timestamps.`);
  }
}

/** The call in a message. */
export function name({ method, path }: Call): string {
  return `${method} ${path}`;
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}
