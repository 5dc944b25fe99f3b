/** Capture: each change of the table of a resource is stored by triggers, whoever makes it. */
import type { FeatureFactory } from '../../operation/feature.js';
import { checkCapture, compileActor, compileChanges, compileHistory } from './capture-options.js';
import { captureTables, inspectCaptured } from './capture-sql.js';
import { captureSettings } from './context.js';
import { maintainChanges } from './maintain.js';

/** Stores changes where `history` or `changes` is set. */
export const capture: FeatureFactory = Object.assign(() => null, {
  options: { history: compileActor },
  resourceOptions: { history: compileHistory, changes: compileChanges },
  check: checkCapture,
  tables: captureTables,
  settings: captureSettings,
  inspectTable: inspectCaptured,
  maintain: maintainChanges,
});
