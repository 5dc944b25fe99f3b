/** Memory limit of this process: buffers beside V8's heap are bounded by parts of it. */
import { getHeapStatistics } from 'node:v8';

/** Memory that Node reserves for new objects by default. */
const NEW_SPACE = 48 * 1024 * 1024;

const { heap_size_limit: whole } = getHeapStatistics();

/** Bytes for objects that last: what `--max-old-space-size` says, or what Node takes of the machine or the container. */
export const HEAP_LIMIT: number = Math.max(whole - NEW_SPACE, whole / 2);
