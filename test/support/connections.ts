/** An engine's pools, seen from outside: Sequelize does not type them. */
import type { Engine } from '../../src/index.js';

/** One pool of connections. */
export interface PoolState {
  readonly name: 'read' | 'write';
  readonly using: number;
  readonly waiting: number;
  readonly size: number;
}

interface Pools {
  readonly pool: Readonly<Record<'read' | 'write', Omit<PoolState, 'name'>>>;
}

/** States of the pools of an engine. */
export function poolStates({ sequelize }: Pick<Engine, 'sequelize'>): readonly PoolState[] {
  const { pool } = sequelize.connectionManager as unknown as Pools;
  return (['read', 'write'] as const).map((name) => {
    const { using, waiting, size } = pool[name];
    return { name, using, waiting, size };
  });
}
