/**
 * Writers, the reader of a stream, and what is killed under them at random: the process that writes, the one that reads, and PostgreSQL with all
 * its processes. No acknowledged write is without its change and its event, and none of these without its write.
 */
// @runs once
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findFreePort } from '../../sample/support/free-port.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { connectTo, execute } from '../support/postgres.js';
import { Program } from '../support/program.js';
import { wholeOr } from '../support/short.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';

const CLIENTS = 8;
const KILLS = wholeOr(3, 60);
const WRITER = join(__dirname, 'captured-writes.js');
const READER = join(__dirname, 'follow-entries.js');

/** Writes until it is told to stop. @returns the texts of the last acknowledged write of each row */
function write(address: string, until: AbortSignal) {
  const acknowledged = new Map<number, string>();
  const send = (method: string, path: string, text: string) =>
    fetch(`${address}${path}`, {
      method,
      headers: { 'content-type': 'application/json', user: text },
      body: JSON.stringify({ text }),
      signal: AbortSignal.timeout(2_000),
    });
  const client = async (name: number): Promise<void> => {
    for (let count = 0; !until.aborted; count += 1) {
      const created = await send('POST', '/entries', `${name} ${count}`).catch(() => null);
      if (created?.status !== 201) {
        await sleep(20);
        continue;
      }
      const { id } = (await created.json()) as { id: number };
      acknowledged.set(id, `${name} ${count}`);
      const changed = await send('PATCH', `/entries/${id}`, `${name} ${count}!`).catch(() => null);
      // The outcome of a change without an answer is unknown.
      if (changed?.status === 200) acknowledged.set(id, `${name} ${count}!`);
      else acknowledged.delete(id);
    }
  };
  return Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name))).then(() => acknowledged);
}

interface ReadEvent {
  readonly op: string;
  readonly id: string;
  readonly version: number;
}

async function eventsIn(file: string): Promise<ReadEvent[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [, data] = line.split('\t');
    return data ? (JSON.parse(data) as ReadEvent) : [];
  });
}

describe('stored changes', function () {
  this.timeout(60_000 + KILLS * 4_000);

  it('are those of the rows, and are the events of a stream, whatever is killed', async () => {
    await using server = await OwnPostgres.create('changes', { synchronous_commit: 'on' });
    await execute(server.url('postgres'), 'CREATE DATABASE changes');
    await using folder = await createTemporaryFolder('reader');
    const file = join(folder.path, 'events');
    await appendFile(file, '');
    const url = server.url('changes');
    const port = await findFreePort();
    const address = `http://127.0.0.1:${port}`;
    const startWriter = async () => {
      const program = new Program([WRITER, url, String(port)]);
      await program.untilPrinted('at http');
      return program;
    };
    const startReader = () => new Program([READER, `${address}/entries/changes`, file]);
    let writer = await startWriter();
    let reader = startReader();
    const end = new AbortController();
    const writing = write(address, end.signal);
    const kills = [
      async () => {
        await writer.end('SIGKILL');
        writer = await startWriter();
      },
      async () => {
        await reader.end('SIGKILL');
        reader = startReader();
      },
      async () => {
        await server.kill();
        await server.start();
      },
    ];
    for (let count = 0; count < KILLS; count += 1) {
      await sleep(100 + Math.random() * 600);
      // Each comes once, and then at random.
      await kills[count < kills.length ? count : Math.floor(Math.random() * kills.length)]?.();
    }
    await sleep(500);
    end.abort();
    const acknowledged = await writing;
    await using client = await connectTo(url);
    const { rows: changes } = await client.query<ReadEvent>(
      `SELECT CASE op WHEN 'i' THEN 'create' ELSE 'update' END AS op, row_id AS id, (new->>'version')::int AS version FROM crud_changes`,
    );
    const deadline = performance.now() + 20_000;
    let events = await eventsIn(file);
    while (events.length < changes.length && performance.now() < deadline) {
      await sleep(50);
      events = await eventsIn(file);
    }
    await reader.end('SIGKILL');
    await writer.end('SIGKILL');
    const named = (all: readonly ReadEvent[]) => all.map(({ op, id, version }) => `${id} ${version} ${op}`);
    // Of one row in order, each once: the place is stored with its event.
    expect(named(events).sort()).to.deep.equal(named(changes).sort());
    const last = new Map<string, number>();
    for (const { id, version } of events) {
      expect(version, `row ${id}`).to.be.above(last.get(id) ?? -1);
      last.set(id, version);
    }
    expect(acknowledged.size).to.be.above(10);
    const { rows } = await client.query<{ id: number; text: string }>('SELECT id, text FROM entries');
    const texts = new Map(rows.map(({ id, text }) => [id, text]));
    for (const [id, text] of acknowledged) expect(texts.get(id), `row ${id}`).to.equal(text);
    // Each row is its last change, has as many changes as its version says, and each change has the actor of its write.
    const { rows: faults } = await client.query(`
      SELECT e.id, e.version, count(c.id) AS changes
      FROM entries AS e FULL JOIN crud_changes AS c ON c.row_id = e.id::text
      GROUP BY e.id, e.version, e.text
      HAVING e.id IS NULL OR count(c.id) <> e.version + 1 OR count(*) FILTER (WHERE op = 'i') <> 1
        OR (array_agg(c.new->>'text' ORDER BY c.id DESC))[1] <> e.text
        OR bool_or(c.context->>'actor' IS DISTINCT FROM c.new->>'text')`);
    expect(faults).to.deep.equal([]);
  });
});
