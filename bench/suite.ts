/** The suites of the benchmark: the articles, the library with its relations, writes, or searches, orders and aggregates. */
import { CONTENDERS, type Contender, isUsual, LIMIT, OURS, VARIED } from './contenders.js';
import { fillStatements, ROWS } from './load/article.js';
import { WORKLOADS, type Workload, type WorkloadName } from './load/workloads.js';
import { CHECKS, type Check } from './measure/check-answers.js';
import { QUERY_CHECKS } from './queries/check-queries.js';
import { QUERY_CONTENDERS } from './queries/contenders.js';
import { fillStatements as fillPosts, POSTS } from './queries/posts.js';
import { QUERY_WORKLOADS } from './queries/workloads.js';
import { RELATION_CHECKS } from './relations/check-relations.js';
import { RELATION_CONTENDERS } from './relations/contenders.js';
import { BOOKS, fillStatements as fillLibrary } from './relations/library.js';
import { RELATION_WORKLOADS } from './relations/workloads.js';
import { WRITE_CHECKS } from './writes/check-writes.js';
import { WRITE_CONTENDERS } from './writes/contenders.js';
import { fillStatements as fillVersioned, RESTORING } from './writes/versioned-articles.js';
import { WRITE_WORKLOADS } from './writes/workloads.js';

/** The contenders, the workloads and the data of a run. */
export interface Suite {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  /** By name of the workload. */
  readonly checks: Readonly<Record<string, Check<never>>>;
  /** The contender that all ratios are to. */
  readonly limit: string;
  /** The contender that the ratios to the others are of. */
  readonly ours: string;
  /** The results of a full run. */
  readonly results: string;
  /** Rows of the largest table. */
  readonly rows: number;
  /** Rounds of a full run: an odd number, for medians. */
  readonly rounds: number;
  /** Clients at once. */
  readonly connections: number;
  /** Contenders of a full run. Default: all. */
  readonly usual?: readonly string[];
  /** Makes the tables. */
  fill(contenders: readonly Contender[]): readonly string[];
  /** Statements that restore the tables after a load that writes, where added rows are not the only change. */
  readonly restoring: readonly string[];
}

/** Clients at once, where there is no crowd. */
const CONNECTIONS = 64;

export const ARTICLES: Suite = {
  contenders: CONTENDERS,
  workloads: WORKLOADS,
  checks: CHECKS,
  limit: LIMIT,
  ours: OURS,
  results: 'latest',
  rows: ROWS,
  rounds: 3,
  connections: CONNECTIONS,
  usual: CONTENDERS.filter(isUsual).map(({ name }) => name),
  fill: (contenders) =>
    fillStatements(
      ROWS,
      contenders.some(({ isScoped }) => isScoped),
      contenders.some(({ hasTwoKeys }) => hasTwoKeys),
    ),
  restoring: [],
};

/** Clients of a crowd. */
const CROWD_SIZES = [256, 1_000];

const CROWDED = WORKLOADS.filter(({ name }) => ['read', 'list20', 'create'].includes(name)).flatMap(
  (workload) =>
    CROWD_SIZES.map((connections) => ({
      ...workload,
      like: workload.name,
      name: `${workload.name}-${connections}`,
      title: `${workload.title}, ${connections.toLocaleString('en')} clients`,
      connections,
    })),
);

/** The articles with many clients at once. */
export const CROWDS: Suite = {
  ...ARTICLES,
  workloads: CROWDED,
  checks: Object.fromEntries(CROWDED.map(({ name, like }) => [name, CHECKS[like as WorkloadName]])),
  results: 'crowds',
  rounds: 3,
  connections: Math.max(...CROWD_SIZES),
  usual: VARIED,
};

export const RELATIONS: Suite = {
  contenders: RELATION_CONTENDERS,
  workloads: RELATION_WORKLOADS,
  checks: RELATION_CHECKS,
  limit: 'lean-levels',
  ours: OURS,
  results: 'relations',
  rows: BOOKS,
  rounds: 3,
  connections: CONNECTIONS,
  fill: fillLibrary,
  restoring: [],
};

export const WRITES: Suite = {
  contenders: WRITE_CONTENDERS,
  workloads: WRITE_WORKLOADS,
  checks: WRITE_CHECKS,
  limit: LIMIT,
  ours: OURS,
  results: 'writes',
  rows: ROWS,
  rounds: 3,
  connections: CONNECTIONS,
  fill: fillVersioned,
  restoring: RESTORING,
};

export const QUERIES: Suite = {
  contenders: QUERY_CONTENDERS,
  workloads: QUERY_WORKLOADS,
  checks: QUERY_CHECKS,
  limit: LIMIT,
  ours: OURS,
  results: 'queries',
  rows: POSTS,
  rounds: 3,
  connections: CONNECTIONS,
  fill: fillPosts,
  restoring: [],
};
