/** Workloads of relations: lists of twenty records, with related rows. */
import type { Call } from '../load/call.js';
import { createRandom, type Random } from '../load/random.js';
import type { Workload } from '../load/workloads.js';
import { randomCategory, randomCountry } from './library.js';
import type { LibraryWire, RelationWorkload } from './library-wires.js';

/** Different requests of a workload that chooses rows. */
const VARIETY = 1_000;

export const RELATION_WORKLOADS: readonly Workload<LibraryWire>[] = [
  workload('books20', 'Books alone'),
  workload('writers20', 'Writers alone'),
  workload('one20', 'To-one'),
  workload('many20', '3 of 30 children'),
  workload('hot20', '3 of 100,000 children'),
  workload('nested20', 'Nested'),
  workload('byOne20', 'Filter by to-one', randomCountry),
  workload('byAny20', 'Filter by any of to-many', randomCategory),
];

function workload(
  name: RelationWorkload,
  title: string,
  choose?: (random: Random) => string,
): Workload<LibraryWire> {
  return {
    name,
    title,
    writes: false,
    calls: async (wire) => {
      if (!choose) return [wire.list(name, '')];
      const random = createRandom(1);
      return Array.from({ length: VARIETY }, (): Call => wire.list(name, choose(random)));
    },
  };
}
