/** The same contenders on several versions of Node and PostgreSQL, and in several processes. */
import type { Contender } from './contenders.js';
import { type NodeProgram, provideNode } from './measure/runtimes.js';

/** What is varied. A list is empty where all have what they always have. */
export interface Platforms {
  /** Major versions of Node. */
  readonly node: readonly string[];
  /** Major versions of PostgreSQL. */
  readonly postgres: readonly string[];
  /** Processes of each contender, which share its port. */
  readonly processes: readonly number[];
}

/** A contender on one of them. What is not said is as always. */
export interface PlacedContender extends Contender {
  /** What its name has behind that of the contender. */
  readonly platform?: string;
  readonly node?: NodeProgram;
  readonly postgres?: string;
  readonly processes?: number;
}

/** Whether something is varied. */
export function isVaried({ node, postgres, processes }: Platforms): boolean {
  return node.length + postgres.length + processes.length > 0;
}

/** Each contender on each platform. Those of one platform stand side by side. */
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
