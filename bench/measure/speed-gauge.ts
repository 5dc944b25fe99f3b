/**
 * Checks that the machine has its usual speed. A virtual machine shares its processors with others. For some seconds each
 * processor may do half of its usual work, which no clock of the guest shows.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Below this part of the usual speed the machine is slow: with a busy neighbor it has about 0.6. */
const SLOW = 0.8;
/** The quantile of the readings that is the usual speed. The best reading may have been luck. */
const USUAL = 0.9;
/** Readings that are remembered. */
const MEMORY = 500;
/** Readings before the first that counts. V8 has compiled the loop by then. */
const FIRST_READINGS = 20;
/** Milliseconds between two readings. */
const PAUSE = 100;

/** Measures all processors at once; the slowest counts. */
export class SpeedGauge implements AsyncDisposable {
  readonly #threads = Array.from(
    { length: availableParallelism() },
    () => new Worker(join(__dirname, 'spin.js')),
  );
  readonly #readings: number[] = [];

  /** Starts it, and measures the usual speed. */
  static async start(): Promise<SpeedGauge> {
    const gauge = new SpeedGauge();
    for (let reading = 0; reading < FIRST_READINGS; reading += 1) {
      await gauge.isSteady();
      await sleep(PAUSE);
    }
    return gauge;
  }

  /** @returns true where the machine is as fast as usual now. Nothing else may run meanwhile. */
  async isSteady(): Promise<boolean> {
    const speed = await this.#read();
    this.#readings.push(speed);
    if (this.#readings.length > MEMORY) this.#readings.shift();
    return !isSlow(speed, this.#readings);
  }

  /** Waits until the machine is steady. @param patience milliseconds at most @returns true where it is steady now */
  async untilSteady(patience: number): Promise<boolean> {
    const deadline = performance.now() + patience;
    while (!(await this.isSteady())) {
      if (performance.now() >= deadline) return false;
      await sleep(PAUSE);
    }
    return true;
  }

  async #read(): Promise<number> {
    const speeds = await Promise.all(
      this.#threads.map(async (thread) => {
        const answer = once(thread, 'message');
        thread.postMessage(null);
        const [speed] = (await answer) as [number];
        return speed;
      }),
    );
    return Math.min(...speeds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}

/** @returns true where a speed is far below the usual one of the readings */
export function isSlow(speed: number, readings: readonly number[]): boolean {
  const sorted = [...readings].sort((a, b) => a - b);
  const usual = sorted[Math.floor((sorted.length - 1) * USUAL)] ?? 0;
  return speed < SLOW * usual;
}
