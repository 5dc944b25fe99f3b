/** Prints the progress of the benchmark. */

/** Writes a line. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
