/** Findings that fail a test although it passes: answers that leak, stray rejections, warnings. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findLeak } from './find-leak.js';
import { recordBusyClients } from './record-busy-clients.js';
import { type ErrorAnswer, type ProcessWarning, recordAnswers, recordWarnings } from './record-process.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** Warnings of others, by code or, where they have none, by the beginning of the message; and why they stay. */
const WARNINGS_OF_OTHERS: Readonly<Record<string, string>> = {
  PG_INVALID_DATE: 'Sequelize passes an invalid date of the application on to pg 8.',
};

const answers: ErrorAnswer[] = [];
const problems: string[] = [];
const secrets = new Set<string>();
let allowed: readonly string[] = [];
let recordsOfChildren: string | undefined;

/** Begins to record. Before the library is loaded, parts of which keep methods of Node as they find them. */
export function recordFindings(): void {
  recordAnswers((answer) => answers.push(answer));
  recordWarnings(addWarning);
  recordBusyClients((stack) => problems.push(`A connection was given a query while it had one: ${stack}`));
  // Mocha drops a rejection that nothing has handled, and breaks when one is thrown while a test is running.
  process.on('unhandledRejection', (reason) => {
    problems.push(`A rejected promise was not handled: ${(reason as Error | null)?.stack ?? String(reason)}`);
  });
}

/** Begins to record in the processes that this one starts. */
export async function recordChildren(): Promise<void> {
  recordsOfChildren = join((await createTemporaryFolder('records')).path, 'records');
  writeFileSync(recordsOfChildren, '');
  process.env.CRUD_TEST_RECORDS = recordsOfChildren;
  const required = `--require=${JSON.stringify(join(__dirname, 'child-process.js'))}`;
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, required].filter(Boolean).join(' ');
}

/** Adds a text that no answer may have from now on. */
export function keepSecret(text: string): void {
  secrets.add(text);
}

/**
 * Lets the error answers of the running test show these texts. For tests in which code of the user's puts them there, such
 * as the message of an `HttpError` of its own.
 */
export function allowInAnswers(...texts: readonly string[]): void {
  allowed = [...allowed, ...texts];
}

/** Forgets the findings: a test that fails has its own reason. */
export function forgetFindings(): void {
  answers.length = 0;
  problems.length = 0;
  allowed = [];
  readChildren();
}

/** Fails where there were findings since the last call. */
export async function throwFindings(): Promise<void> {
  // Node reports rejections and warnings when the code that made them has ended.
  await nextTurn();
  readChildren();
  for (const answer of answers.splice(0)) judge(answer);
  allowed = [];
  const found = [...new Set(problems.splice(0))];
  if (found.length > 0) throw new Error(found.slice(0, 5).join('\n'));
}

function judge({ method, url, status, body }: ErrorAnswer): void {
  const said = [decoded(url), ...allowed].join('\n');
  const leak = findLeak(body, [...secrets], said);
  if (leak) problems.push(`${method} ${url} was answered with ${status}, which shows ${leak}\n${body}`);
}

function addWarning({ name, code, message }: ProcessWarning): void {
  const isOfOthers = Object.keys(WARNINGS_OF_OTHERS).some((known) => (code ?? message).startsWith(known));
  if (!isOfOthers) problems.push(`A process warning: ${name} ${code ?? ''} ${message}`);
}

function readChildren(): void {
  if (!recordsOfChildren) return;
  const lines = readFileSync(recordsOfChildren, 'utf8');
  if (lines === '') return;
  writeFileSync(recordsOfChildren, '');
  for (const line of lines.trim().split('\n')) {
    const { answer, warning } = JSON.parse(line) as { answer?: ErrorAnswer; warning?: ProcessWarning };
    if (answer) answers.push(answer);
    if (warning) addWarning(warning);
  }
}

/** Text of a query string, as the answer to it quotes it. A wrong escape stays as it is. */
function decoded(url: string): string {
  return url
    .replaceAll('+', ' ')
    .replace(/(?:%[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}
