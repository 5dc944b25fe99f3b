/** Tells the terminal how far the benchmark is. */

/** Writes a line. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
