/** The sample of health probes, as its user meets it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshDatabase } from '../support/postgres.js';

const MAIN = join(__dirname, '../../sample/health/main.js');

describe('the sample health', () => {
  it('is ready, finishes what it has begun, and stops', async () => {
    const database = await freshDatabase();
    const { CLICKHOUSE_URL: _, REDIS_URL: __, ...env } = process.env;
    const child = spawn(process.execPath, [MAIN], {
      env: { ...env, PORT: '0', DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    const closed = once(child, 'close');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    while (!output.includes('stops it.')) {
      if (child.exitCode !== null) throw new Error(`The sample has ended: ${output}`);
      await Promise.race([once(child.stdout, 'data'), closed]);
    }

    const [ready = '', slow = ''] = output.match(/^http:\S+/gm) ?? [];
    const report = await (await fetch(ready)).json();
    const answer = fetch(slow);
    child.kill('SIGTERM');
    const draining = await untilStatus(503, ready);
    const late = await answer;
    const body = await late.json();
    await closed;
    process.removeListener('exit', kill);
    await database.drop();

    expect(report).to.have.property('status', 'healthy');
    expect(draining).to.deep.equal({ status: 'unhealthy', checks: [] });
    expect(body).to.deep.equal({ took: '3 seconds' });
    expect(late.headers.get('connection')).to.equal('close');
    expect(output).to.match(/\nStopped\n$/);
    expect(child.exitCode).to.equal(0);
  });
});

async function untilStatus(status: number, url: string): Promise<unknown> {
  const response = await fetch(url);
  const body = await response.json();
  return response.status === status ? body : untilStatus(status, url);
}
