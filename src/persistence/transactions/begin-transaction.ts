/** Begins the transaction of a session. */
import type { Sequelize, Transaction, TransactionOptions } from 'sequelize';
import { statementRunner } from '../connections/statement-runner.js';
import { sequelizeProblem } from '../customization/internals-trial.js';
import { seesQueries } from '../customization/query-customizations.js';
import { EngineSequelize } from '../session/engine-sequelize.js';
import { refuseWrites } from '../session/refuse-writes.js';
import { applySettings, type RequestSettings, withoutSettings } from '../session/request-settings.js';
import { currentSession } from '../session/session.js';

/**
 * By Sequelize itself, where code of the user's would see its queries, or another driver sends them.
 *
 * @param settings of the request that it is part of
 */
export async function beginTransaction(
  sequelize: Sequelize,
  options: TransactionOptions,
  settings: RequestSettings | null,
): Promise<Transaction> {
  const isOfEngine = sequelize instanceof EngineSequelize;
  const isOwn = isOfEngine && sequelize.transaction === EngineSequelize.prototype.transaction;
  if (isOwn && !seesQueries(sequelize) && !sequelizeProblem()) {
    const runner = statementRunner(sequelize);
    const readOnly = options.readOnly === true || currentSession(sequelize)?.isReadOnly === true;
    if (runner.canBegin) return runner.begin({ ...options, readOnly }, settings);
  }
  // Without those of the running code, which an engine's instance would set.
  const transaction = await withoutSettings(() => sequelize.transaction(options));
  // An engine's instance does so itself, where its connections do not.
  if (options.readOnly && !isOfEngine) await refuseWrites(sequelize, transaction);
  if (settings) await applySettings(sequelize, transaction, settings);
  return transaction;
}
