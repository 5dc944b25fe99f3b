/** Warnings of an engine, written to the application's logger, which may come later. */
import type { Sequelize } from 'sequelize';
import type { Logger } from '../../util/logger.js';

const loggers = new WeakMap<Sequelize, Logger>();
const waiting = new WeakMap<Sequelize, string[]>();

/** Warns now, or as soon as there is a logger. */
export function warnOf(sequelize: Sequelize, text: string): void {
  const logger = loggers.get(sequelize);
  if (logger) logger.warn(text);
  else waiting.set(sequelize, [...(waiting.get(sequelize) ?? []), text]);
}

/** Sets the logger of an instance, and writes the warnings that have waited for it. */
export function setWarningLogger(sequelize: Sequelize, logger: Logger): void {
  loggers.set(sequelize, logger);
  for (const text of waiting.get(sequelize) ?? []) logger.warn(text);
  waiting.delete(sequelize);
}
