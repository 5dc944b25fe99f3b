/** The lines in which two texts differ, as people read them. */

/** Lines that go have a `-`, and lines that come a `+`; blanks at the ends of a line are no difference. */
export function lineDifference(before: string, after: string): string[] {
  const [old, own] = [before, after].map((text) => text.split('\n').map((line) => line.trimEnd())) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && start < own.length && old[start] === own[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < own.length - start && old.at(-1 - end) === own.at(-1 - end))
    end += 1;
  return difference(old.slice(start, old.length - end), own.slice(start, own.length - end)).filter(
    (line) => line.trim().length > 1,
  );
}

/** By the longest lines in common. */
function difference(old: readonly string[], own: readonly string[]): string[] {
  // lengths[i][j]: of those of the rests from i and j.
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(own.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = own.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row) row[j] = old[i] === own[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: string[] = [];
  for (let i = 0, j = 0; i < old.length || j < own.length; ) {
    if (i < old.length && j < own.length && old[i] === own[j]) {
      i += 1;
      j += 1;
    } else if (j >= own.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${own[j]}`);
      j += 1;
    }
  }
  return lines;
}
