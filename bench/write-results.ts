/** Writes the files of a run. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { RESULTS, ROOT } from './paths.js';
import { say } from './say.js';

/** Each text goes to a file with the name and the text's key as its extension. */
export async function writeResults(name: string, texts: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(RESULTS, { recursive: true });
  for (const [extension, text] of Object.entries(texts)) {
    const file = join(RESULTS, `${name}.${extension}`);
    await writeFile(file, text);
    say(`Wrote ${relative(ROOT, file)}`);
  }
}
