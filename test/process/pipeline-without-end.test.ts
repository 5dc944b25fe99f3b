/** A client that pipelines more than a process should keep in memory. */
import { expect } from 'chai';
import { FixtureProcess } from './fixture-process.js';
import { PipeliningClient } from './pipelining-client.js';

const REQUESTS = 10_000 * Number(process.env['CRUD_TEST_TIMES'] ?? 1);
/** Requests of one connection that are under way at once. */
const MAX_OPEN = 64;

describe('a client that pipelines thousands of requests on one connection', () => {
  it('is read no further while many are open, and then gets all answers in order', async () => {
    await using fixture = await FixtureProcess.start();
    const { memory: before } = JSON.parse((await fixture.get('/waiting')).body);
    let count = 0;
    const next = () => {
      count += 1;
      return { method: 'GET' as const, path: `/waiting/${count}` };
    };
    const client = await PipeliningClient.start(fixture.port, REQUESTS, next);
    await fixture.untilPrinted('reads no more');
    const { held, memory } = JSON.parse((await fixture.get('/waiting')).body);
    await fixture.post('/release');
    expect(held).to.equal(MAX_OPEN);
    expect(memory - before).to.be.below(25_000_000);
    await client.untilAnswered(REQUESTS);
    const answers = client.sent.slice(0, REQUESTS).map(({ answer }) => JSON.parse(answer?.body ?? '').number);
    expect(answers).to.deep.equal(Array.from({ length: REQUESTS }, (_, index) => String(index + 1)));
    fixture.signal();
    await client.untilClosed();
    expect(await fixture.untilEnded()).to.include({ code: 0 });
  });
});
