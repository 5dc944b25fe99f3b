/** Finds and compares the figures of a run. */
import type { Row } from '../measure/measure.js';
import type { Sample } from '../measure/sample.js';
import { type Spread, spreadOf } from './statistics.js';

/** A figure of a sample. */
export type Figure = keyof Sample;

/** The figures of a run by contender and workload. */
export class Summary {
  readonly #rows: ReadonlyMap<string, Row>;

  constructor(rows: readonly Row[]) {
    this.#rows = new Map(rows.map((row) => [key(row.contender, row.workload), row]));
  }

  /** Null where there is none, or none that counts. */
  spread(contender: string, workload: string, figure: Figure): Spread | null {
    const figures = this.#figures(contender, workload, figure);
    return figures.length > 0 ? spreadOf(figures) : null;
  }

  /** The median; null as above. */
  median(contender: string, workload: string, figure: Figure): number | null {
    return this.spread(contender, workload, figure)?.median ?? null;
  }

  /**
   * The ratio of a figure of two contenders, in each round. A machine that is slow for a while is slow for both contenders of
   * a round, but may be slow in more rounds of one than of the other.
   */
  ratioSpread(contender: string, to: string, workload: string, figure: Figure): Spread | null {
    return this.#spreadOf([contender, workload], [to, workload], figure, ratioOf);
  }

  /** The difference of a figure of two contenders, in each round. */
  differenceSpread(contender: string, to: string, workload: string, figure: Figure): Spread | null {
    return this.#spreadOf([contender, workload], [to, workload], figure, (one, other) => one - other);
  }

  /** The ratio of two workloads of one contender, in each round. */
  workloadSpread(contender: string, workload: string, to: string, figure: Figure = 'rate'): Spread | null {
    return this.#spreadOf([contender, workload], [contender, to], figure, ratioOf);
  }

  #spreadOf(
    one: readonly [string, string],
    other: readonly [string, string],
    figure: Figure,
    compare: (one: number, other: number) => number,
  ): Spread | null {
    const figures = this.#figures(...one, figure);
    const others = this.#figures(...other, figure);
    const compared = figures
      .slice(0, others.length)
      .map((value, round) => compare(value, others[round] as number));
    return compared.length > 0 ? spreadOf(compared) : null;
  }

  #figures(contender: string, workload: string, figure: Figure): number[] {
    const row = this.#rows.get(key(contender, workload));
    if (!row || row.problem) return [];
    return row.samples.map((sample) => sample[figure]).filter((value) => value !== null);
  }
}

function ratioOf(one: number, other: number): number {
  return one / other;
}

function key(contender: string, workload: string): string {
  return `${contender} ${workload}`;
}
