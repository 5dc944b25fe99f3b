/** Writes. Each is recorded in the ledger before it is sent, and again when it was acknowledged or refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Created, SoakClient, Wanted } from './client.js';
import { ACCOUNTS } from './ledger.js';
import { stored, TABLES, type TableName } from './models.js';
import type { Answer } from './send.js';

type Write = (client: SoakClient, table: TableName) => Promise<void>;

/** Milliseconds until a request with a key is sent again. */
const PAUSE = 50;
/** The most records of a request. */
const MOST = 5;
/** Milliseconds after which a request with a key is given up: longer than any fault. */
const PATIENCE = 30_000;
/** Created texts that a client remembers. */
const MEMORY = 50;

/** Kinds of writes, as often as they are to be chosen. */
const WRITES: readonly Write[] = [create, create, createWithKey, change, change, createMany, remove, remove];

/** Sends a write. */
export async function write(client: SoakClient): Promise<void> {
  const { dice } = client;
  await dice.pick(WRITES)(client, dice.once(2) ? 'notes' : dice.pick(TABLES));
}

async function create(client: SoakClient, table: TableName): Promise<void> {
  const sent = { table, text: client.newText(), count: 1 };
  await sendCreate(client, sent, { body: { text: sent.text } });
}

async function createMany(client: SoakClient, table: TableName): Promise<void> {
  const sent = { table, text: client.newText(), count: 1 + client.dice.roll(MOST) };
  const body = Array(sent.count).fill({ text: sent.text });
  const headers = client.dice.once(2) ? { 'idempotency-key': sent.text } : {};
  await sendCreate(client, sent, { body, headers });
}

async function createWithKey(client: SoakClient, table: TableName): Promise<void> {
  const sent = { table, text: client.newText(), count: 1 };
  await sendCreate(client, sent, { body: { text: sent.text }, headers: { 'idempotency-key': sent.text } });
}

/** With a key it is sent until it is acknowledged. */
async function sendCreate(
  client: SoakClient,
  { table, text, count }: { readonly table: TableName; readonly text: string; readonly count: number },
  call: Pick<Wanted, 'body' | 'headers'>,
): Promise<void> {
  const { ledger } = client.run;
  const hasKey = call.headers?.['idempotency-key'] !== undefined;
  const name = `POST /${table}${count > 1 ? ' of many' : ''}${hasKey ? ' with a key' : ''}`;
  const wanted = { name, method: 'POST', path: `/${table}`, statuses: hasKey ? [201, 409] : [201], ...call };
  ledger.expect(table, stored(table, text), 0, count);
  const deadline = performance.now() + PATIENCE;
  let answer = await client.ask(wanted);
  while (hasKey && answer?.status !== 201 && performance.now() < deadline) {
    await sleep(PAUSE);
    answer = await client.ask(wanted);
  }
  if (hasKey && answer?.status !== 201) ledger.problems.push(`${name} of ${text} is not acknowledged`);
  if (answer?.status !== 201) return;
  ledger.expect(table, stored(table, text), count);
  ledger.acknowledged += 1;
  remember(client, { table, text: stored(table, text), ids: idsOf(answer) });
}

async function change(client: SoakClient, table: TableName): Promise<void> {
  const { ledger, tags, witness } = client.run;
  const id = 1 + client.dice.roll(ACCOUNTS);
  const path = `/${table}/${id}`;
  const tag = tags.get(path) ?? '"0"';
  const text = client.newText();
  ledger.beginChange(table, id);
  const answer = await client.ask({
    name: `PATCH /${table} with If-Match`,
    method: 'PATCH',
    path,
    headers: { 'if-match': tag },
    body: { text },
    statuses: [200, 412],
  });
  if (!answer) return;
  const current = String(answer.headers.etag);
  tags.set(path, current);
  if (answer.status === 412) return ledger.refuseChange(table, id);
  const version = Number(current.replaceAll('"', ''));
  ledger.acknowledgeChange(table, id, version, text);
  const isNext = version === Number(tag.replaceAll('"', '')) + 1;
  if (!isNext) witness.problems.push(`PATCH ${path} under ${tag} has led to ${current}`);
}

/** Deletes one record by its id, or several by their text. */
async function remove(client: SoakClient, table: TableName): Promise<void> {
  const known = client.created.shift();
  if (!known) return create(client, table);
  const { ledger } = client.run;
  const { text, ids } = known;
  const path = `/${known.table}`;
  const isOne = ids.length === 1;
  ledger.expect(known.table, text, 0, ids.length);
  const answer = await client.ask({
    name: `DELETE ${path}${isOne ? '' : ' of many'}`,
    method: 'DELETE',
    path: isOne ? `${path}/${ids[0]}` : `${path}?q=text==${encodeURIComponent(text)}`,
    statuses: [isOne ? 204 : 200],
  });
  if (!answer) return;
  ledger.expect(known.table, text, 0);
  ledger.acknowledged += 1;
  const expected = isOne ? '' : JSON.stringify({ affected: ids.length });
  if (answer.body !== expected) ledger.problems.push(`DELETE of ${text}: ${answer.body}, not ${expected}`);
}

function remember({ created }: SoakClient, rows: Created): void {
  created.push(rows);
  if (created.length > MEMORY) created.shift();
}

function idsOf({ body }: Answer): number[] {
  const answer = JSON.parse(body) as { id?: number; items?: readonly { id: number }[] };
  return answer.items?.map(({ id }) => id) ?? (answer.id === undefined ? [] : [answer.id]);
}
