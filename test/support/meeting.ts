/** Lets things that run at the same time wait for each other. */

/** A function that waits until it was called that many times; later calls do not wait. */
export function meetingOf(count: number): () => Promise<void> {
  let arrived = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    arrived += 1;
    if (arrived === count) open();
    return all;
  };
}
