/** The progress of a command: a bar in a terminal, and elsewhere a line every ten seconds. */

/** Milliseconds between two lines, in a terminal and elsewhere. */
const BAR_INTERVAL = 100;
const LINE_INTERVAL = 10_000;
const BAR_WIDTH = 24;

/** Where it is shown. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows rows, a part of the whole where there is a total, and the time left. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  readonly #begin: number;
  #last: number;

  /** @param now the clock, in milliseconds */
  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#begin = now();
    this.#last = this.#begin;
  }

  /** @param part of the whole, from 0 to 1; null where there is no total */
  update(rows: number, part: number | null): void {
    const { isTTY } = this.#stream;
    const now = this.#now();
    if (now - this.#last < (isTTY ? BAR_INTERVAL : LINE_INTERVAL)) return;
    this.#last = now;
    const line = progressLine(rows, part, (now - this.#begin) / 1000);
    this.#stream.write(isTTY ? `\r\x1b[K${part === null ? '' : bar(part)}${line}` : `${line}\n`);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }
}

function bar(part: number): string {
  return `[${'#'.repeat(Math.floor(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '-')}] `;
}

function progressLine(rows: number, part: number | null, seconds: number): string {
  const left = part === null || part <= 0 || rows === 0 ? null : (seconds / part) * (1 - part);
  return [
    ...(part === null ? [] : [`${Math.floor(part * 100)}%`]),
    `${rows} rows`,
    `${Math.round(rows / seconds)} rows/s`,
    ...(left === null ? [] : [`${clock(left)} left`]),
  ].join(', ');
}

/** Minutes and seconds. */
function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
