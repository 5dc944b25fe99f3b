/**
 * The memory of Sequelize's queries. pg makes values of rows as they arrive, and all of them are in V8's heap before anything can be
 * done with the first one. A process whose heap is full ends. So a query with many bytes is given up before.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { HEAP_FULL } from '../../errors/database-fault.js';
import { HEAP_LIMIT } from './heap-limit.js';
import { LARGE_RESULT } from './large-result.js';
import { activeQueryOf, type DriverClient } from './pg-internals.js';

/** Bytes of rows after which the heap is looked at again. */
const STEP = 64 * 1024;
/** V8 begins to do little but collect garbage when there is less room. */
const LITTLE_ROOM = 0.2 * HEAP_LIMIT;
/** Values take up to twenty times the bytes of their rows: `{}` in JSON is an object of 56 bytes. */
const SWELL = 20;

/** Bytes of the rows of all queries that are watched and under way. */
let arriving = 0;

/** Error of a result whose values do not fit into the heap. */
class HeapFullError extends Error {
  readonly severity = 'ERROR';
  readonly code = HEAP_FULL;

  constructor() {
    super('The heap has no room for the values of a result.');
  }
}

/**
 * Ends a connection whose query the heap has no room for. A heap that other code fills is no reason: the rows under way have to be
 * enough to fill the rest. Queries of ours keep their rows elsewhere.
 */
export function watchHeap(client: object): void {
  const { connection } = client as DriverClient;
  let bytes = 0;
  let nextLook = LARGE_RESULT;
  const forget = (): void => {
    arriving -= bytes;
    bytes = 0;
    nextLook = LARGE_RESULT;
  };
  connection?.on('dataRow', ({ length }: { readonly length: number }) => {
    bytes += length;
    arriving += length;
    if (bytes < nextLook) return;
    nextLook = bytes + STEP;
    const room = HEAP_LIMIT - usedByLasting();
    if (room > LITTLE_ROOM || room > arriving * SWELL || isOurs(client as DriverClient)) return;
    connection.stream.destroy(new HeapFullError());
  });
  connection?.on('readyForQuery', forget);
  connection?.on('end', forget);
}

/** Bytes of objects that have lasted. Young ones are mostly garbage that will be collected before there is no room. */
export function usedByLasting(): number {
  let bytes = 0;
  for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) {
    if (!name.startsWith('new_')) bytes += used;
  }
  return bytes;
}

/** True where the query under way keeps its rows itself. */
function isOurs(client: DriverClient): boolean {
  const query = activeQueryOf(client);
  return typeof query === 'object' && query !== null && 'limit' in query;
}
