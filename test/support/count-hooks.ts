/** Counts the hooks of an engine's Sequelize that have run. */
import type { TestApp } from './test-app.js';

/** Counts from now on, by the names of the hooks. */
export function countHooks({ engine }: TestApp, ...names: readonly string[]): Record<string, number> {
  const counts = Object.fromEntries(names.map((name) => [name, 0]));
  for (const name of names)
    engine.sequelize.addHook(name as 'afterConnect', () => {
      counts[name] = Number(counts[name]) + 1;
    });
  return counts;
}
