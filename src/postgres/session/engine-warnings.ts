/** Warnings of an engine, written to the application's logger, which may come later. */
import type { Sequelize } from 'sequelize';
import type { Logger } from '../../util/logger.js';

const loggers = new WeakMap<Sequelize, Logger>();
const untold = new WeakMap<Sequelize, string[]>();

/** Warns now, or as soon as there is a logger. */
export function warnOf(sequelize: Sequelize, text: string): void {
  const logger = loggers.get(sequelize);
  if (logger) logger.warn(text);
  else untold.set(sequelize, [...(untold.get(sequelize) ?? []), text]);
}

/** Gives the instance a logger, which is told at once what has not been told. */
export function giveLogger(sequelize: Sequelize, logger: Logger): void {
  loggers.set(sequelize, logger);
  for (const text of untold.get(sequelize) ?? []) logger.warn(text);
  untold.delete(sequelize);
}
