/** Models with `@Crud` that no application serves: a list of `models` that one was not added to would end in a 404 and nothing else. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import { crudRecords } from '../../declare/crud.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { ownModel } from '../../describe/record.js';
import { tablesRead } from '../../inspect/index-advice.js';

/** Models with routes, of all applications and routers of this process. */
const served = new WeakSet<object>();

/** Notes that the models of these plans have routes. */
export function noteServed(plans: readonly ResourcePlan[]): void {
  for (const { model } of plans) served.add(ownModel(model));
}

/**
 * A line about the models with `@Crud` that are in the databases of these plans and have no routes. Those that a relation of the
 * plans leads to may be meant for that alone.
 */
export function unservedWarnings(plans: readonly ResourcePlan[]): string[] {
  const databases = new Set(plans.map(({ model }) => model.sequelize));
  const related = new Set<ModelClass>(plans.flatMap(tablesRead).map(({ model }) => ownModel(model)));
  const models = new Set(crudRecords().map(({ model }) => model));
  const names = [...models]
    .filter((model) => model.sequelize && databases.has(model.sequelize))
    .filter((model) => !served.has(model) && !related.has(model))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const [have, them] = names.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return [
    `${names.join(', ')} ${have} @Crud and no routes, as the option models of bootstrap lacks ${them}; add ${them} there, or remove the ` +
      'decorator.',
  ];
}
