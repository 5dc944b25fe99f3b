/** A clock that a test moves: the timers of the process, and `performance.now` along with them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work at a moment, once or again and again. */
interface Alarm {
  at: number;
  readonly interval: number | null;
  readonly ring: () => void;
  /** The stack at the place that set it. */
  readonly origin: string;
}

type Callback = (...values: unknown[]) => void;

const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;

/** Runs from its construction until it is disposed. Immediates and microtasks are those of the process. */
export class FakeClock implements Disposable {
  #now = 0;
  readonly #alarms = new Set<Alarm>();

  constructor() {
    const set =
      (interval: boolean) =>
      (callback: Callback, delay?: number, ...values: unknown[]) =>
        this.#set(() => callback(...values), Math.max(1, delay ?? 1), interval);
    const clear = (timer: object | undefined) => {
      // One that was set before belongs to the process.
      if (!this.#alarms.delete(timer as Alarm)) clearTimeout(timer as NodeJS.Timeout);
    };
    Object.assign(globalThis, {
      setTimeout: set(false),
      setInterval: set(true),
      clearTimeout: clear,
      clearInterval: clear,
    });
    const now = { value: () => this.#now, configurable: true };
    Object.defineProperty(performance, 'now', now);
  }

  /** Milliseconds since its construction. */
  get now(): number {
    return this.#now;
  }

  /** Number of running timers that a file has set: others of the process may have some. */
  timersOf(file: string): number {
    return [...this.#alarms].filter(({ origin }) => origin.includes(file)).length;
  }

  /** Goes on, from timer to timer; all that one causes is done before the next. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await nextTurn();
    for (let alarm = this.#first(); alarm && alarm.at <= end; alarm = this.#first()) {
      this.#now = alarm.at;
      if (alarm.interval === null) this.#alarms.delete(alarm);
      else alarm.at += alarm.interval;
      alarm.ring();
      await nextTurn();
    }
    this.#now = end;
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
    // Behind it is the method of the prototype.
    Reflect.deleteProperty(performance, 'now');
  }

  #set(ring: () => void, delay: number, repeats: boolean): Alarm {
    const origin = new Error().stack ?? '';
    const alarm = { at: this.#now + delay, interval: repeats ? delay : null, ring, origin };
    this.#alarms.add(alarm);
    return Object.assign(alarm, { ref: () => alarm, unref: () => alarm });
  }

  /** The next alarm; of several at one moment the one that was set first. */
  #first(): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) if (!first || alarm.at < first.at) first = alarm;
    return first;
  }
}
