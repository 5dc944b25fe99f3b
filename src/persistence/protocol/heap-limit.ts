/** How much memory this process is meant to have: what is kept beside V8's heap is bounded by parts of it. */
import { getHeapStatistics } from 'node:v8';

/** What Node reserves for new objects, unless it is told otherwise. */
const NEW_SPACE = 48 * 1024 * 1024;

const { heap_size_limit: whole } = getHeapStatistics();

/** Bytes for objects that last: what `--max-old-space-size` says, or what Node takes of the machine or the container. */
export const HEAP_LIMIT: number = Math.max(whole - NEW_SPACE, whole / 2);
