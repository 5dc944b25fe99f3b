/** Waiting for something, and no longer than for a time. */

/**
 * True where work ends within so many milliseconds; its later result is ignored.
 *
 * @throws what the work fails with within the time
 */
export async function endsInTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
