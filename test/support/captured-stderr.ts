/** Lines on standard error, for tests of the logger that needs no configuration. */

/** Keeps the output of standard error while `work` runs, instead of writing it. */
export async function captureStderr<T>(work: () => PromiseLike<T>): Promise<{ result: T; lines: string[] }> {
  const { write } = process.stderr;
  let text = '';
  process.stderr.write = (chunk: string | Uint8Array): boolean => {
    text += String(chunk);
    return true;
  };
  try {
    const result = await work();
    return { result, lines: text.split('\n').filter((line) => line !== '') };
  } finally {
    process.stderr.write = write;
  }
}
