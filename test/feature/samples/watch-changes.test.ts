/** The sample `history`, as its user meets it: two processes, and a client of the database beside them. */
// @runs fast
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { Program } from '../../support/program.js';

const MAIN = join(__dirname, '../../../sample/history/main.js');

interface Change {
  readonly id: string;
  readonly op: string;
  readonly actor: string | null;
  readonly changes: object;
}

describe('the sample history', () => {
  const database = forSuite(() => freshDatabase('history'));
  const site = forSuite(
    () => new Program([MAIN], { env: { ...process.env, DATABASE_URL: database.url, PORT: '0' } }),
  );
  let [one, two]: string[] = [];

  before(async () => {
    await site.untilPrinted('Ctrl-C ends it.');
    [one, two] = site.output.match(/http:\/\/localhost:\d+/g) ?? [];
  });

  const send = async (url: string, method: string, body: object): Promise<object> => {
    const headers = { 'Content-Type': 'application/json', User: 'Ann' };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as object;
  };
  const historyOf = async (id: number): Promise<readonly Change[]> =>
    ((await (await fetch(`${two}/tasks/${id}/history`)).json()) as { items: Change[] }).items;

  it('shows each change in the feed of either process, whoever makes it', async () => {
    const ending = new AbortController();
    const { signal } = ending;
    const { body } = await fetch(`${two}/tasks/changes`, {
      headers: { Accept: 'text/event-stream' },
      signal,
    });
    const written = send(`${one}/tasks/2`, 'PATCH', { title: 'Knead' }).then(() =>
      execute(database.url, "UPDATE tasks SET title = 'Sold' WHERE id = 3"),
    );
    const events: object[] = [];
    let text = '';
    const decoder = new TextDecoder();
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
      const found = [...text.matchAll(/^data: (.*)\n/gm)].map(([, data = '']) => JSON.parse(data));
      // That of the client comes every five seconds.
      events.splice(0, Number.POSITIVE_INFINITY, ...found.filter(({ id }) => id !== '1'));
      if (events.length === 2 && found.length > 2) break;
    }
    ending.abort();
    await written;
    expect(events.map((event) => ({ ...event, at: '', request_id: '' }))).to.deep.equal([
      {
        resource: 'tasks',
        op: 'update',
        id: '2',
        at: '',
        version: 1,
        changed: ['title', 'version'],
        request_id: '',
      },
      { resource: 'tasks', op: 'update', id: '3', at: '', version: 0, changed: ['title'], request_id: '' },
    ]);
  });

  it('says who has changed what, and goes back', async () => {
    const [newest, first] = await historyOf(2);
    expect([newest?.actor, first?.actor]).to.deep.equal(['Ann', null]);
    expect(newest?.changes).to.have.property('title').that.deep.equals({ from: 'Bake', to: 'Knead' });
    expect(await send(`${one}/tasks/2/revert`, 'POST', { to: first?.id })).to.include({ title: 'Bake' });
    expect((await historyOf(3))[0]).to.include({ op: 'update', actor: null });
  });

  it('has a page', async () => {
    expect(await (await fetch(`${one}/`)).text()).to.include("new EventSource('/tasks/changes')");
  });

  it('stops when it is told to, with its children', async () => {
    expect(await site.end('SIGTERM')).to.equal(0);
    expect(await fetch(`${two}/`).catch(() => null)).to.equal(null);
  });
});
