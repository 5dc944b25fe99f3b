/** The sample of health probes, as its user meets it. */
import { join } from 'node:path';
import { expect } from 'chai';
import { freshDatabase } from '../support/postgres.js';
import { Program } from '../support/program.js';

const MAIN = join(__dirname, '../../sample/health/main.js');

describe('the sample health', () => {
  it('is ready, finishes what it has begun, and stops', async () => {
    await using database = await freshDatabase();
    const { CLICKHOUSE_URL: _, REDIS_URL: __, ...env } = process.env;
    await using sample = new Program([MAIN], { env: { ...env, PORT: '0', DATABASE_URL: database.url } });
    await sample.untilPrinted('stops it.');
    const [ready = '', slow = ''] = sample.output.match(/^http:\S+/gm) ?? [];
    const report = await (await fetch(ready)).json();
    const answer = fetch(slow);
    sample.signal();
    const draining = await untilStatus(503, ready);
    const late = await answer;
    const body = await late.json();
    const code = await sample.untilEnded();

    expect(report).to.have.property('status', 'healthy');
    expect(draining).to.deep.equal({ status: 'unhealthy', checks: [] });
    expect(body).to.deep.equal({ took: '3 seconds' });
    expect(late.headers.get('connection')).to.equal('close');
    expect(sample.output).to.match(/\nStopped\n$/);
    expect(code).to.equal(0);
  });
});

async function untilStatus(status: number, url: string): Promise<unknown> {
  const response = await fetch(url);
  const body = await response.json();
  return response.status === status ? body : untilStatus(status, url);
}
