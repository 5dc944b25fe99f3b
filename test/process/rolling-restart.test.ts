/** Two processes behind a balancer are replaced one after the other, while clients go on sending requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Balancer } from './balancer.js';
import { FixtureProcess } from './fixture-process.js';

const CLIENTS = 8;
/** Milliseconds between two requests of a client: without them the clients alone would keep a processor busy. */
const PAUSE = 40;
/** The balancer has to notice in that time that a process is not ready any more, on a busy machine, too. */
const OPTIONS = { drainDelay: 1_500 };

describe('a rolling restart', () => {
  it('fails no request', async () => {
    await using balancer = await Balancer.start();
    await using first = await FixtureProcess.start(OPTIONS);
    await using second = await FixtureProcess.start(OPTIONS);
    await balancer.add(first.port);
    await balancer.add(second.port);

    const load = new Load(balancer.url);
    await load.untilMore(100);
    await using third = await replace(first, balancer);
    await load.untilMore(100);
    await using fourth = await replace(second, balancer);
    await load.untilMore(100);
    const { statuses, processes } = await load.stop();

    expect(Object.keys(statuses)).to.deep.equal(['200']);
    // All four have taken part, the last two until the end.
    expect(processes.size).to.equal(4);
    expect([third.hasEnded, fourth.hasEnded]).to.deep.equal([false, false]);
  });
});

/** Starts a new process, then stops the old one, which has to end well. */
async function replace(old: FixtureProcess, balancer: Balancer): Promise<FixtureProcess> {
  const next = await FixtureProcess.start(OPTIONS);
  await balancer.add(next.port);
  old.signal();
  expect(await old.untilEnded()).to.include({ code: 0 });
  return next;
}

/** Clients that each send one request after the other. */
class Load {
  readonly #statuses: Record<string, number> = {};
  readonly #processes = new Set<number>();
  readonly #clients: readonly Promise<void>[];
  #isStopped = false;
  #count = 0;

  constructor(url: string) {
    this.#clients = Array.from({ length: CLIENTS }, (_, index) =>
      this.#run(`${url}${index % 2 === 0 ? '/pid' : '/wait/20'}`),
    );
  }

  /** Resolves when this many more answers have come. */
  async untilMore(answers: number): Promise<void> {
    const goal = this.#count + answers;
    while (this.#count < goal) await sleep(5);
  }

  /** Ends it; how often each status came, `failed` for no answer at all, and the processes that answered. */
  async stop(): Promise<{ statuses: Record<string, number>; processes: ReadonlySet<number> }> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    return { statuses: this.#statuses, processes: this.#processes };
  }

  async #run(url: string): Promise<void> {
    while (!this.#isStopped) {
      const outcome = await fetch(url).then(
        async (response) => {
          const { pid } = (await response.json()) as { pid?: number };
          if (pid !== undefined) this.#processes.add(pid);
          return String(response.status);
        },
        () => 'failed',
      );
      this.#count += 1;
      this.#statuses[outcome] = (this.#statuses[outcome] ?? 0) + 1;
      await sleep(PAUSE);
    }
  }
}
