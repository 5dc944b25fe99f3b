/** The sample that `npm start` runs, as its user meets it: a process, its addresses, and Ctrl-C. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { AtlasProcess } from '../../support/atlas-process.js';
import { forSuite } from '../../support/for-suite.js';
import { PACKAGE_ROOT } from '../../support/package-root.js';
import {
  answersAsWritten,
  codeBlocks,
  consoleExamples,
  guidePages,
  readmeBlocks,
  runCurl,
} from '../../support/readme-examples.js';
import { itWhole, wholeOr } from '../../support/short.js';
import { createTemporaryFolder } from '../../support/temporary-folder.js';

// It chooses its own Express and its own database, so a run for another one would test the same again.
const { CRUD_TEST_EXPRESS, DATABASE_URL } = process.env;
const suite = CRUD_TEST_EXPRESS === '4' || DATABASE_URL ? describe.skip : describe;

suite('the sample atlas', () => {
  after(async () => {
    if (!atlas.hasEnded) await atlas.end('SIGINT');
  });

  const folder = forSuite(() => createTemporaryFolder('atlas'));
  let atlas: AtlasProcess;

  before(() => open());

  // Starting it takes seconds, so a test that has ended it leaves that to the next one.
  beforeEach(async () => {
    if (atlas.hasEnded) await open();
  });

  it('answers at every address that it prints', async () => {
    expect(atlas.urls).to.have.length.above(3);
    for (const url of atlas.urls) {
      const { status } = await fetch(url);
      expect(status, url.href).to.equal(200);
    }
  });

  it('answers as the README and the guide show', async () => {
    const blocks = guidePages().flatMap((page) => readmeBlocks('run against the atlas', page));
    for (const { command, output } of blocks.flatMap(consoleExamples)) {
      const answer = await runCurl(command, atlas.urls[0]?.origin ?? '');
      expect(answersAsWritten(answer, output), `${command}\n${answer}`).to.equal(true);
    }
  });

  it('has all countries and all cities', async () => {
    expect(await atlas.get('/countries?size=1')).to.include({ total: 250 });
    expect(await atlas.get('/cities?size=1')).to.include({ total: 135_233 });
  });

  it('serves a city under its GeoNames id', async () => {
    expect(await atlas.get('/cities/2988507')).to.deep.equal({
      id: 2988507,
      name: 'Paris',
      countryCode: 'FRA',
      population: 2138551,
      latitude: 48.85341,
      longitude: 2.3488,
      featureCode: 'PPLC',
      adminCode: '11',
      municipalityCode: null,
    });
  });

  it('sums up the reviews of a city', async () => {
    const lyon = { cityId: 2996944, text: ' ' };
    await post({ ...lyon, author: 'Ann', rating: 5 });
    await post({ ...lyon, author: 'Bob', rating: 4 });
    expect(await atlas.get('/cities/2996944/reviews/summary')).to.deep.equal({ count: 2, average: 4.5 });
  });

  it('walks its relations: along with records, as filters, and under a record', async () => {
    const [moscow] = (
      (await atlas.get(
        '/cities?q=country.region==Europe&sort=-population&fields=name&size=1&include=country&country.fields=name',
      )) as { items: object[] }
    ).items;
    expect(moscow).to.deep.equal({ name: 'Moscow', country: { name: 'Russia' } });
    const french = await atlas.get('/countries/FRA/cities?sort=-population&fields=name&size=2');
    expect(french).to.deep.include({ items: [{ name: 'Paris' }, { name: 'Marseille' }] });
    expect(await atlas.get('/cities/2996944/reviews?sort=-rating&fields=author')).to.deep.include({
      items: [{ author: 'Ann' }, { author: 'Bob' }],
    });
    // The conditions are of one review.
    const any = '/cities?q=countryCode==FRA;reviews=any=';
    expect(await atlas.get(`${any}(rating==5;author==Ann)&fields=id`)).to.have.nested.property('items[0].id');
    expect(await atlas.get(`${any}(rating==5;author==Bob)`)).to.include({ total: 0 });
  });

  it('lists the capitals, and refuses what a list refuses', async () => {
    const page = (await atlas.get('/cities/capitals?sort=-population&size=1&fields=name')) as object;
    expect(page).to.deep.include({ items: [{ name: 'Buenos Aires' }], page: 1, has_next: true });
    for (const path of ['/cities/capitals?sort=latitude', '/cities/paris/reviews/summary'])
      expect((await fetch(new URL(path, atlas.urls[0]))).status).to.equal(400);
    expect((await fetch(new URL('/cities/1/reviews/summary', atlas.urls[0]))).status).to.equal(404);
  });

  it('stores an empty text of a review as none', async () => {
    expect(await post({ cityId: 2988507, author: 'Ann', rating: 5, text: ' ' })).to.include({ text: null });
  });

  it('changes what was read, does a write with a key once, and brings back what was deleted', async () => {
    const send = (...args: Parameters<AtlasProcess['send']>) => atlas.send(...args);
    const key = { 'Idempotency-Key': 'once' };
    const rated = { cityId: 2988507, author: 'Eve', rating: 2 };
    const [first, second] = [
      await send('/reviews', 'POST', rated, key),
      await send('/reviews', 'POST', rated, key),
    ];
    expect(second.headers.get('Idempotent-Replayed')).to.equal('true');
    expect(await second.text()).to.equal(await first.text());
    const path = String(first.headers.get('Location'));
    const seen = { 'If-Match': String(first.headers.get('ETag')) };
    expect((await send(path, 'PATCH', { rating: 3 }, seen)).status).to.equal(200);
    expect((await send(path, 'PATCH', { rating: 4 }, seen)).status).to.equal(412);
    const all = '/reviews?q=author==Eve';
    expect(await (await send(all, 'PATCH', { rating: 5 })).json()).to.deep.equal({ affected: 1 });
    expect(await (await send(all, 'DELETE', null)).json()).to.deep.equal({ affected: 1 });
    const deleted = (await atlas.get(`${all}&deleted=only`)) as { items: object[] };
    expect(deleted.items).to.have.length(1);
    expect((await send(`${path}/restore`, 'POST', null)).status).to.equal(200);
    await send(path, 'DELETE', null);
    expect((await send(`${path}/purge`, 'DELETE', null)).status).to.equal(204);
  });

  it('serves the typed client, which prints what its README shows', async () => {
    const main = join(PACKAGE_ROOT, 'dist/sample/typed-client/main.js');
    const { stdout } = await promisify(execFile)(process.execPath, [main], {
      env: { ...process.env, ATLAS_URL: atlas.urls[0]?.origin },
    });
    const readme = readFileSync(join(PACKAGE_ROOT, 'sample/typed-client/README.md'), 'utf8');
    const [, shown] = /```console\n\$ .*main\.js\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(stdout).to.equal(shown);
  });

  it('answers its own README, and refuses what that says is refused', async () => {
    const blocks = codeBlocks('sample/atlas/README.md').map(({ code }) => code);
    const [tried, wrong] = blocks.filter((code) => code.includes('curl '));
    const statuses = async (block = '') => {
      const commands = block
        .replaceAll('\\\n', ' ')
        .split('\n')
        .filter((line) => line.startsWith('curl '));
      const answers: string[] = [];
      for (const command of commands) {
        const [sent = ''] = command.split(/ +#/);
        const head = await runCurl(sent.replace('curl', 'curl -i'), atlas.urls[0]?.origin ?? '');
        answers.push(`${head.split(' ')[1]} ${sent.replace(/^curl (?:-i )?/, '')}`);
      }
      return answers;
    };
    const refused = (await statuses(tried)).filter((answer) => !answer.startsWith('2'));
    expect(refused).to.deep.equal([
      `412 -X PATCH localhost:3000/reviews/1 -H 'If-Match: "0"' -H 'Content-Type: application/json' -d '{"rating": 1}'`,
      '404 localhost:3000/reviews/1',
    ]);
    expect((await statuses(wrong)).map((answer) => answer.slice(0, 3))).to.deep.equal([
      '422',
      '400',
      '400',
      '409',
    ]);
    const origin = atlas.urls[0]?.origin;
    const italy = await fetch(`${origin}/countries/ITA`, { method: 'DELETE' });
    expect([italy.status, await italy.json()]).to.deep.equal([
      409,
      { detail: 'The record refers to one that does not exist, or is still referred to by others.' },
    ]);
  });

  it('refuses to start on data that is in use', async () => {
    const second = new AtlasProcess(folder.path);
    expect(await second.untilEnded()).to.equal(1);
    expect(second.output).to.match(/^Another atlas is running on .*$/m);
  });

  it('says in one line that its port is taken', async () => {
    const port = Number(atlas.urls[0]?.port);
    const second = new AtlasProcess(join(folder.path, 'other'), port);
    expect(await second.untilEnded()).to.equal(1);
    expect(second.output).to.equal(`Port ${port} is taken. Choose another one: PORT=${port + 1} npm start\n`);
  });

  for (const signal of ['SIGINT', ...wholeOr([], ['SIGTERM', 'SIGHUP'] as const)] as const) {
    it(`closes at ${signal}, and leaves no server`, async () => {
      expect(await atlas.end(signal)).to.equal(0);
      expect(atlas.output).to.match(/\nClosed\n$/);
      expect(existsSync(postmasterFile())).to.equal(false);
    });
  }

  it('does not wait for a request at a second Ctrl-C, and leaves no server either', async () => {
    const { hostname, port } = atlas.urls[0] ?? new URL('http://nowhere');
    const silent = connect(Number(port), hostname);
    silent.on('error', () => {});
    await once(silent, 'connect');
    // The head of a request that does not end. Node 26 closes a connection without any at once.
    silent.write('GET /countries HTTP/1.1\r\n');
    // The atlas has accepted the connection when it has answered on a later one.
    await atlas.get('/countries/FRA');
    atlas.signal('SIGINT');
    while (await isListening(Number(port), hostname));
    expect(await atlas.end('SIGINT')).to.equal(1);
    silent.destroy();
    while (existsSync(postmasterFile())) await sleep(20);
  });

  itWhole('gives up its start at Ctrl-C, and leaves no server', async () => {
    const other = await createTemporaryFolder('atlas');
    const starting = new AtlasProcess(other.path);
    await starting.untilPrinted('Loading cities');
    expect(await starting.end('SIGINT')).to.equal(0);
    expect(existsSync(join(other.path, 'data', 'postmaster.pid'))).to.equal(false);
    other.remove();
  });

  itWhole('opens on the data of one that was killed about as soon as on that of one that ended', async () => {
    const millisecondsToOpen = async (): Promise<number> => {
      const started = performance.now();
      await open();
      return performance.now() - started;
    };
    await atlas.end('SIGTERM');
    const usual = await millisecondsToOpen();
    await atlas.end('SIGKILL');
    expect(await millisecondsToOpen()).to.be.below(4 * usual);
  });

  function postmasterFile(): string {
    return join(folder.path, 'data', 'postmaster.pid');
  }

  async function open(): Promise<void> {
    atlas = new AtlasProcess(folder.path);
    await atlas.untilOpen();
  }

  async function post(review: object): Promise<unknown> {
    return (await atlas.send('/reviews', 'POST', review)).json();
  }
});

async function isListening(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host);
  const isAccepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isAccepted;
}
