/** Workloads of searches, orders and aggregates. All contenders take the same paths. */
import { createRandom, type Random } from '../load/random.js';
import type { Workload } from '../load/workloads.js';
import { randomSection, randomWord } from './posts.js';

/** Names of the workloads. */
export type QueryWorkload =
  | 'searchWords'
  | 'searchText'
  | 'searchRelevance'
  | 'aggregateSection'
  | 'aggregateMonth'
  | 'sortRelation'
  | 'sortNulls';

/** Different requests of a workload. */
const VARIETY = 2_000;
/** Ours runs two aggregates of a process at once, and has others wait. */
const AGGREGATES_AT_ONCE = 16;

/** The path of a request of each workload. */
export const PATHS: Readonly<Record<QueryWorkload, (random: Random) => string>> = {
  searchWords: (random) => `/posts?search=${randomWord(random)}&size=20`,
  searchText: (random) => `/text-posts?search=${randomWord(random)}&size=20`,
  searchRelevance: (random) => `/text-posts?search=${randomWord(random)}&sort=relevance&size=20`,
  aggregateSection: (random) => `/posts/aggregate?sum=stock&avg=price&q=sectionId==${randomSection(random)}`,
  aggregateMonth: (random) =>
    `/posts/aggregate?group=createdAt.month&sum=stock&tz=Europe/Berlin&q=sectionId==${randomSection(random)}`,
  sortRelation: () => '/posts?sort=section.name&size=20',
  sortNulls: () => '/posts?sort=price&size=20',
};

const TITLES: Readonly<Record<QueryWorkload, string>> = {
  searchWords: 'Search a word in titles, 20',
  searchText: 'Search the full text, 20',
  searchRelevance: 'The 20 most relevant',
  aggregateSection: 'Sum and average of a section',
  aggregateMonth: 'Sums of a section by month',
  sortRelation: 'List 20 by the name of the section',
  sortNulls: 'List 20 by price, NULLs last',
};

export const QUERY_WORKLOADS: readonly Workload[] = (Object.keys(PATHS) as QueryWorkload[]).map((name) => ({
  name,
  title: TITLES[name],
  writes: false,
  ...(name.startsWith('aggregate') ? { connections: AGGREGATES_AT_ONCE } : {}),
  calls: async () => {
    const random = createRandom(1);
    return Array.from({ length: VARIETY }, () => ({ method: 'GET', path: PATHS[name](random) }));
  },
}));
