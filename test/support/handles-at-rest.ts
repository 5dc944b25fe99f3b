/** After every file the process has no handle that it did not have before: a server, a process, a timer that keeps it alive. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './patience.js';

/** Number of handles that keep the process alive, by kind. */
type Handles = ReadonlyMap<string, number>;

/** The handles of now. */
export function openHandles(): Handles {
  const handles = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) handles.set(kind, (handles.get(kind) ?? 0) + 1);
  return handles;
}

/** Waits until there is no more than there was; rejects where there is. */
export async function untilHandlesRest(before: Handles): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  let more = moreThan(before);
  while (more.length > 0 && performance.now() < deadline) {
    await sleep(5);
    more = moreThan(before);
  }
  if (more.length > 0) throw new Error(`Handles are left: ${more.join(', ')}`);
}

function moreThan(before: Handles): readonly string[] {
  return [...openHandles()]
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} ${kind}`);
}
