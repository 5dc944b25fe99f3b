/** Writers, and the process or the server that is killed under them: no acknowledged write without its change, and no change without its write. */
// @runs once

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { OwnPostgres } from '../support/own-postgres.js';
import { connectTo, execute } from '../support/postgres.js';
import { Program } from '../support/program.js';

const CLIENTS = 8;
const FIXTURE = join(__dirname, 'captured-writes.js');

/** Writes until it is told to stop. @returns the texts of the last acknowledged write of each row */
function write(address: () => string, until: AbortSignal) {
  const acknowledged = new Map<number, string>();
  const send = (method: string, path: string, text: string) =>
    fetch(`${address()}${path}`, {
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

describe('stored changes', function () {
  this.timeout(90_000);

  it('are those of the rows, whatever is killed', async () => {
    await using server = await OwnPostgres.create('changes');
    await execute(server.url('postgres'), 'CREATE DATABASE changes');
    const url = server.url('changes');
    let address = '';
    const start = async () => {
      const program = new Program([FIXTURE, url]);
      await program.untilPrinted('at http');
      address = /at (\S+)/.exec(program.output)?.[1] ?? '';
      return program;
    };
    let program = await start();
    const end = new AbortController();
    const writing = write(() => address, end.signal);
    for (let round = 0; round < 2; round += 1) {
      await sleep(300);
      program.signal('SIGKILL');
      await program.untilEnded();
      program = await start();
      await sleep(300);
      await server.crash();
      await server.start();
      await sleep(700);
    }
    end.abort();
    const acknowledged = await writing;
    await program[Symbol.asyncDispose]();
    expect(acknowledged.size).to.be.above(10);
    await using client = await connectTo(url);
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
