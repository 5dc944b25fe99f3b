/** Where statements run that are in no session. */
import type { Sequelize } from 'sequelize';
import { currentSettings } from '../session/session-variables.js';
import { statementRunner } from './statement-runner.js';
import type { StatementTarget } from './statement-target.js';

/** Any connection of the pools, with the settings of the request, if there are any. Default: those of the running code. */
export function currentTarget(sequelize: Sequelize, settings = currentSettings()): StatementTarget {
  const runner = statementRunner(sequelize);
  return settings ? runner.withSettings(settings) : runner;
}
