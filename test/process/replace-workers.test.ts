/** Process managers: workers of a cluster are replaced one after the other while clients go on, and pm2 is answered. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { FixtureProcess } from './fixture-process.js';

const CLIENTS = 6;
const METHODS = ['GET', 'POST', 'PATCH'] as const;

describe('a process manager', () => {
  it('[U12] replaces the workers of a cluster without losing a request', async () => {
    await using fixture = await FixtureProcess.start({}, {}, [join(__dirname, 'cluster-fixture.js')]);
    const kept = new Agent({ keepAlive: true });
    const outcomes: Record<string, number> = {};
    const processes = new Set<number>();
    let isOver = false;
    const client = async (index: number): Promise<void> => {
      for (let count = index; !isOver; count += 1) {
        const method = METHODS[count % METHODS.length] as string;
        const outcome = await send(fixture.port, method, index % 2 === 0 ? kept : new Agent());
        if (typeof outcome !== 'string') processes.add(outcome.pid);
        const name = typeof outcome === 'string' ? outcome : outcome.method;
        outcomes[name] = (outcomes[name] ?? 0) + 1;
        await delay(20);
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
    await delay(200);
    fixture.release();
    await fixture.untilPrinted('all are new');
    await delay(200);
    isOver = true;
    await clients;
    kept.destroy();
    expect(Object.keys(outcomes).sort()).to.deep.equal([...METHODS].sort());
    expect(processes.size).to.equal(4);
    expect(fixture.words.match(/^replaced .*$/gm)).to.deep.equal(['replaced 0', 'replaced 0']);
    // The workers end with their primary, whose channel to them is closed.
    await fixture.end();
  });

  describe('that is pm2', () => {
    function start(environment: NodeJS.ProcessEnv): ChildProcess {
      const env = { ...process.env, ...environment };
      const child = fork(join(__dirname, 'fixture.js'), ['{}'], { env, silent: true });
      child.stderr?.resume();
      return child;
    }

    for (const end of ['shutdown', 'SIGINT'] as const) {
      it(`is told when the process listens, and stops it by ${end}`, async () => {
        const child = start({ pm_id: '0' });
        child.stdout?.resume();
        const [message] = await once(child, 'message');
        expect(message).to.equal('ready');
        if (end === 'SIGINT') child.kill('SIGINT');
        else child.send(end);
        expect(await once(child, 'close')).to.deep.equal([0, null]);
      });
    }

    it('is the only parent that is sent a message', async () => {
      const child = start({});
      const messages: unknown[] = [];
      child.on('message', (message) => messages.push(message));
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (!child.killed && /^listening \d+$/m.test(output)) child.kill('SIGTERM');
      });
      expect(await once(child, 'close')).to.deep.equal([0, null]);
      expect(messages).to.deep.equal([]);
    });
  });
});

type Answer = { readonly method: string; readonly pid: number };
/** The answer, or the code of the error. */
async function send(port: number, method: string, agent: Agent): Promise<Answer | string> {
  try {
    const sent = request({ host: '127.0.0.1', port, method, path: '/work/5', agent });
    sent.end(method === 'GET' ? undefined : '{}');
    const [response] = await once(sent, 'response');
    return JSON.parse(await text(response));
  } catch (error) {
    return `${method} ${(error as NodeJS.ErrnoException).code}`;
  }
}
