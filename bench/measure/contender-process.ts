/** A contender that runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartProblem } from '../../sample/support/start-problem.js';
import type { Contender } from '../contenders.js';
import { type Ask, askPort } from '../load/call.js';
import { peakMemory, processorTime } from './processor-time.js';

/** What a process is given beside the port. */
export interface ContenderEnvironment {
  readonly databaseUrl: string;
  /** Variables of single contenders. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The path of a request that is 200 as soon as it is ready. */
  readonly readyPath?: string;
}

/** Milliseconds. */
const START_DEADLINE = 60_000;
const STOP_DEADLINE = 5_000;

/** Runs until it is disposed, or this process ends. */
export class ContenderProcess implements AsyncDisposable {
  readonly port: number;
  readonly ask: Ask;
  /** Milliseconds from the start to the first answer. */
  readonly startTime: number;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');

  private constructor(child: ChildProcess, port: number, startTime: number) {
    this.#child = child;
    this.#pid = child.pid ?? 0;
    this.port = port;
    this.ask = askPort(port);
    this.startTime = startTime;
    process.once('exit', this.#kill);
  }

  /** Starts it, and waits until it answers. */
  static async start(contender: Contender, environment: ContenderEnvironment): Promise<ContenderProcess> {
    const { databaseUrl, variables = {}, readyPath = '/articles/1' } = environment;
    const port = await findFreePort();
    const started = performance.now();
    const child = spawn(process.execPath, [contender.script], {
      env: {
        ...process.env,
        ...variables,
        NODE_ENV: 'production',
        PORT: String(port),
        DATABASE_URL: databaseUrl,
      },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    const complaints: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
    try {
      await untilReady(child, `http://127.0.0.1:${port}${readyPath}`);
    } catch (cause) {
      child.kill('SIGKILL');
      const said = Buffer.concat(complaints).toString().trim();
      throw new StartProblem(`${contender.title} does not answer.\n${said}`, { cause });
    }
    return new ContenderProcess(child, port, performance.now() - started);
  }

  /** Microseconds. */
  processorTime(): number {
    return processorTime(this.#pid);
  }

  /** Bytes. */
  peakMemory(): number {
    return peakMemory(this.#pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#kill);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(this.#kill, STOP_DEADLINE);
    await closed;
    clearTimeout(timer);
  }
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE;
  while (child.exitCode === null && Date.now() < deadline) {
    const status = await fetch(url).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => null,
    );
    if (status === 200) return;
    await sleep(10);
  }
  throw new Error('It has ended, or does not answer in time.');
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
