/** A contender that runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../sample/support/free-port.js';
import { StartProblem } from '../../sample/support/start-problem.js';
import { type Ask, askPort } from '../load/call.js';
import type { PlacedContender } from '../platforms.js';
import { memory, peakMemoryOfFamily, processorTime, processorTimeOfFamily } from './processor-time.js';

/** Settings of a process beside its port. */
export interface ContenderEnvironment {
  readonly databaseUrl: string;
  /** Variables of single contenders. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

/**
 * A flag against a garbage collection of V8 in processes at rest, which drops compiled code. After a minute at rest a contender
 * would compile again, which a server under load never does.
 */
const STAYS_WARM = '--no-memory-reducer';
/** Milliseconds. */
const START_DEADLINE = 60_000;
const STOP_DEADLINE = 5_000;
/** Characters. */
const LONGEST_COMPLAINT = 10_000;
const READY_PATH = '/articles/1';
const CLUSTER = join(__dirname, 'cluster.js');

/** Runs until it is disposed, or this process ends. */
export class ContenderProcess implements AsyncDisposable {
  readonly port: number;
  readonly ask: Ask;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #isOne: boolean;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');
  #startTime = 0;

  private constructor(child: ChildProcess, port: number, isOne: boolean) {
    this.#child = child;
    this.#isOne = isOne;
    this.#pid = child.pid ?? 0;
    this.port = port;
    this.ask = askPort(port);
    process.once('exit', this.#kill);
  }

  /** Starts the library alone. @param folder which has its script, `ours.js` */
  static startOurs(folder: string, environment: ContenderEnvironment): Promise<ContenderProcess> {
    const script = join(folder, 'ours.js');
    const ours = {
      name: 'ours',
      title: 'crud-controllers',
      group: 'ours',
      script,
      wire: null,
      packages: [],
    } as const;
    return ContenderProcess.start(ours, environment);
  }

  /** Starts it, and waits until it answers. */
  static async start(
    contender: PlacedContender,
    environment: ContenderEnvironment,
  ): Promise<ContenderProcess> {
    const { databaseUrl, flags = [] } = environment;
    const variables = { ...contender.variables, ...environment.variables };
    const port = await findFreePort();
    const given = { NODE_ENV: 'production', PORT: String(port), DATABASE_URL: databaseUrl };
    const started = performance.now();
    const { node, processes = 1 } = contender;
    const script = processes === 1 ? [contender.script] : [CLUSTER, contender.script, String(processes)];
    const child = spawn(node?.file ?? process.execPath, [STAYS_WARM, ...flags, ...script], {
      env: { ...process.env, ...variables, ...given },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // One logs its requests.
    child.stdout.resume();
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk).slice(0, LONGEST_COMPLAINT);
    });
    const running = new ContenderProcess(child, port, processes === 1);
    try {
      await untilReady(child, port, contender.readyPath ?? READY_PATH);
    } catch (cause) {
      await running[Symbol.asyncDispose]();
      const { message } = cause as Error;
      throw new StartProblem(`${contender.title} ${message}.\n${complaints.trim()}`, { cause });
    }
    running.#startTime = performance.now() - started;
    return running;
  }

  /** Milliseconds from the start to the first answer. */
  get startTime(): number {
    return this.#startTime;
  }

  /** Microseconds, of all processes. */
  processorTime(): number {
    return this.#isOne ? processorTime(this.#pid) : processorTimeOfFamily(this.#pid);
  }

  /** Resident bytes now, of the first process. */
  memory(): number {
    return memory(this.#pid);
  }

  /** Bytes, of all processes. */
  peakMemory(): number {
    return peakMemoryOfFamily(this.#pid);
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

async function untilReady(child: ChildProcess, port: number, path: string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE;
  let last = 'does not listen';
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (isListening(port)) last = await statusOf(`http://127.0.0.1:${port}${path}`);
    if (last === '200') return;
    await sleep(10);
  }
  const end = child.exitCode ?? child.signalCode;
  throw new Error(end === null ? `is not ready: ${last}` : `ended with ${end}`);
}

/**
 * A trial connection will not do. While nobody listens, the system may choose this very port for its own end, so that it connects
 * to itself. The contender could not listen on the port then.
 */
function isListening(port: number): boolean {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8').includes(`${address} 00000000:0000 0A`);
}

/** The status of an answer, or the reason that there is none. */
async function statusOf(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(START_DEADLINE) });
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}
