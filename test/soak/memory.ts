/** Judges from samples of a process if its memory stays as it is. */

/** Bytes after a garbage collection, at a time in milliseconds. */
export interface Sample {
  readonly at: number;
  readonly heap: number;
  readonly external: number;
  readonly rss: number;
}

/** Measured figures, and the bytes that each may grow in a run. */
const ALLOWED = { heap: 4e6, external: 2e6, rss: 25e6 } as const;

/** A figure that is judged. */
export type Figure = keyof typeof ALLOWED;

/** Bytes. */
export interface Growth {
  readonly from: number;
  readonly to: number;
}

/** The first part of a run, in which code is compiled and caches fill. */
const WARM_UP = 0.3;

/** Figures that have grown too much. */
export function memoryProblems(samples: readonly Sample[]): string[] {
  return (Object.keys(ALLOWED) as Figure[]).flatMap((figure) => {
    const { from, to } = growthOf(samples, figure);
    if (to - from <= ALLOWED[figure]) return [];
    return [`${figure} has grown from ${Math.round(from)} to ${Math.round(to)} bytes`];
  });
}

/** The ends of the least-squares line through the samples after the warm-up. */
export function growthOf(all: readonly Sample[], figure: Figure): Growth {
  const samples = all.slice(Math.floor(all.length * WARM_UP));
  const time = meanOf(samples.map(({ at }) => at));
  const value = meanOf(samples.map((sample) => sample[figure]));
  const spread = meanOf(samples.map(({ at }) => (at - time) ** 2));
  const common = meanOf(samples.map((sample) => (sample.at - time) * (sample[figure] - value)));
  const slope = spread > 0 ? common / spread : 0;
  const [first = time, last = time] = [samples.at(0)?.at, samples.at(-1)?.at];
  return { from: value + slope * (first - time), to: value + slope * (last - time) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
