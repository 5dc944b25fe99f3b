/** Phases of a start, and the ten models of its programs. */
import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Resources of an application. */
export const MODELS = 10;

/** Phases in their order. */
export const PHASES = [
  'frameworks',
  'library',
  'models',
  'connect',
  'mount',
  'first answer',
  'other answers',
] as const;

/** A phase of a start. */
export type Phase = (typeof PHASES)[number];

/** Milliseconds of a phase: by the clock, and of the processor. */
export interface Span {
  readonly wall: number;
  readonly processor: number;
}

/** The message of a program that has started. */
export interface Start {
  readonly spans: Readonly<Record<Phase, Span>>;
  /** Bytes of the resident set after the last answer. */
  readonly memory: number;
}

/** Measures the phases of this process. */
export class Clock {
  readonly #spans: Partial<Record<Phase, Span>> = {};
  #wall = performance.now();
  #processor = process.cpuUsage();

  /** Ends a phase. The next one begins. */
  end(phase: Phase): void {
    const wall = performance.now();
    const { user, system } = process.cpuUsage(this.#processor);
    this.#spans[phase] = { wall: wall - this.#wall, processor: (user + system) / 1_000 };
    this.#wall = wall;
    this.#processor = process.cpuUsage();
  }

  /** Reads a record of each resource, and sends the figures to the benchmark. */
  async finish(server: Server): Promise<void> {
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (let index = 0; index < MODELS; index += 1) {
      await read(`http://127.0.0.1:${port}${pathOf(index)}/1`);
      if (index === 0) this.end('first answer');
    }
    this.end('other answers');
    process.send?.({ spans: this.#spans, memory: process.memoryUsage.rss() });
  }
}

/** The path of a resource. */
export function pathOf(index: number): string {
  return index === 0 ? '/articles' : `/articles-${index}`;
}

async function read(url: string): Promise<void> {
  const [response] = (await once(get(url), 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}.`);
}
