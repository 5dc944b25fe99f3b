/** Capture: each change of the table of a resource is stored by triggers, whoever makes it. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { checkCapture, compileActor, compileChanges, compileHistory, isCaptured } from './capture-options.js';
import { captureTables } from './capture-sql.js';
import { captureSettings } from './context.js';
import { erasureTables } from './erase-sql.js';
import { inspectCaptured } from './inspect-captured.js';
import { maintainChanges } from './maintain.js';

/** Stores changes where `history` or `changes` is set. */
export const capture: FeatureFactory = Object.assign(() => null, {
  options: { history: compileActor },
  resourceOptions: { history: compileHistory, changes: compileChanges },
  check: checkCapture,
  tables: (plan: ResourcePlan, plans: readonly ResourcePlan[]) =>
    isCaptured(plan) ? [...captureTables(plan, plans), ...erasureTables(plan, plans)] : [],
  settings: captureSettings,
  inspectTable: inspectCaptured,
  maintain: maintainChanges,
});
