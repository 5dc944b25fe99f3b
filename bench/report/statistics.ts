/** Medians and spreads of rounds. */

/** The middle of some figures, and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The median is the mean of the two in the middle where the number of figures is even, and NaN where there are none. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b);
  const median = quantileOf(sorted, 0.5);
  return { median, lowest: sorted[0] ?? Number.NaN, highest: sorted.at(-1) ?? Number.NaN };
}

/** Writes the median, and in parentheses the lowest and the highest figure where there are several. */
export function writeSpread(spread: Spread, digits: number): string {
  const [median, lowest, highest] = [spread.median, spread.lowest, spread.highest].map((value) =>
    value.toFixed(digits),
  );
  return spread.lowest < spread.highest ? `${median} (${lowest}–${highest})` : `${median}`;
}

/** Writes a ratio with three digits or more: a spread is computed from what is written. */
export function writeRatio(ratio: Spread): string {
  return writeSpread(ratio, ratio.median < 1 ? 3 : ratio.median < 10 ? 2 : 1);
}

/** Writes microseconds with two digits or more. */
export function writeMicroseconds(time: Spread): string {
  return writeSpread(time, time.median < 100 ? 1 : 0);
}

/** The median alone. */
export function medianOf(figures: readonly number[]): number {
  return spreadOf(figures).median;
}

/** The figure that a part of the figures is below, such as 0.25 of them; between two figures it is interpolated. NaN where there are none. */
export function quantileOf(figures: readonly number[], part: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  return lower + ((sorted[Math.ceil(place)] ?? Number.NaN) - lower) * (place % 1);
}

/**
 * The two figures that have the true median between them with a certainty of 95 %, whatever the distribution is. Null for less
 * than six figures: the lowest and the highest of five are less certain.
 */
export function intervalOf(figures: readonly number[]): readonly [number, number] | null {
  const sorted = [...figures].sort((a, b) => a - b);
  const count = sorted.length;
  let cut = 0;
  // Each figure is below the median or above it, like the sides of a coin: the chance that just `cut` of them are below.
  let chance = 0.5 ** count;
  for (let outside = chance; outside <= 0.025; outside += chance) {
    cut += 1;
    chance *= (count - cut + 1) / cut;
  }
  return cut === 0 ? null : [sorted[cut - 1] as number, sorted[count - cut] as number];
}
