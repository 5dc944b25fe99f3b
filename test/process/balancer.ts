/** A small HTTP balancer: it sends requests in turn to the targets that say they are ready, and tries none twice. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often each target is asked whether it is ready, in milliseconds. */
const INTERVAL = 25;

/** Balances until it is disposed. */
export class Balancer implements AsyncDisposable {
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  readonly #agent = new Agent({ keepAlive: true });
  readonly #ready = new Set<number>();
  readonly #stop = new AbortController();
  readonly #watches: Promise<void>[] = [];
  #turn = 0;

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Asks a target from now on, and resolves when it is ready for the first time. */
  async add(port: number): Promise<void> {
    this.#watches.push(this.#watch(port));
    while (!this.#ready.has(port)) await sleep(INTERVAL);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watches);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  /** Until it has been ready and is not any more: a process that stops does not come back on its port. */
  async #watch(port: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
        async (response) => {
          await response.arrayBuffer();
          return response.ok;
        },
        () => false,
      );
      if (isReady) this.#ready.add(port);
      else if (this.#ready.delete(port)) return;
      await sleep(INTERVAL);
    }
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ports = [...this.#ready];
    this.#turn += 1;
    const port = ports[this.#turn % ports.length];
    const { url: path = '/', method = 'GET' } = incoming;
    const fail = () => void (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end());
    if (port === undefined) {
      fail();
      return;
    }
    const passed = request({ host: '127.0.0.1', port, path, method, agent: this.#agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502);
      answer.on('error', fail);
      answer.pipe(outgoing);
    });
    passed.on('error', fail);
    incoming.pipe(passed);
  }
}
