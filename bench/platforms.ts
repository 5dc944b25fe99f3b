/** The same contenders on several versions of Node and PostgreSQL, and in several processes. */
import type { Contender } from './contenders.js';
import { type NodeProgram, provideNode } from './measure/runtimes.js';

/** Versions and processes that are varied. A list is empty where all contenders have the usual ones. */
export interface Platforms {
  /** Major versions of Node. */
  readonly node: readonly string[];
  /** Major versions of PostgreSQL. */
  readonly postgres: readonly string[];
  /** Processes of each contender, which share its port. */
  readonly processes: readonly number[];
}

/** A contender on a platform. */
export interface PlacedContender extends Contender {
  /** The part of its name behind that of the contender. */
  readonly platform?: string;
  readonly node?: NodeProgram;
  readonly postgres?: string;
  readonly processes?: number;
}

/** @returns true where a list has values */
export function isVaried({ node, postgres, processes }: Platforms): boolean {
  return node.length + postgres.length + processes.length > 0;
}

/** Each contender on each platform. Contenders of the same platform are next to each other. */
export async function placeContenders(
  contenders: readonly Contender[],
  { node, postgres, processes }: Platforms,
): Promise<readonly PlacedContender[]> {
  const placed: PlacedContender[] = [];
  const programs = await Promise.all(node.map(provideNode));
  for (const server of orNone(postgres)) {
    for (const program of orNone(programs)) {
      for (const count of orNone(processes)) {
        const parts = [
          ...(program ? [`Node ${program.version}`] : []),
          ...(server ? [`PostgreSQL ${server}`] : []),
          ...(count ? [count === 1 ? 'one process' : `${count} processes`] : []),
        ];
        const platform = ['', program?.version, server, count].filter((part) => part !== undefined).join('@');
        for (const contender of contenders) {
          placed.push({
            ...contender,
            platform,
            name: `${contender.name}${platform}`,
            title: [contender.title, ...parts].join(', '),
            ...(program ? { node: program } : {}),
            ...(server ? { postgres: server } : {}),
            ...(count ? { processes: count } : {}),
          });
        }
      }
    }
  }
  return placed;
}

function orNone<T>(values: readonly T[]): readonly (T | undefined)[] {
  return values.length > 0 ? values : [undefined];
}
