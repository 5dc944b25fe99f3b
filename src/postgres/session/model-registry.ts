/**
 * Owner of a model class: its Sequelize instance. A class has one owner. Sequelize assigns it to the last instance that takes
 * it, without a warning. Earlier code would then go on with the rows of another database.
 */
import type { Sequelize } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { ConfigError } from '../../util/config-error.js';

/** The instances of engines in use, and of those that are starting, with how often each is held. */
const held = new Map<Sequelize, number>();

/** Instances that were held, and are no longer: their models may go elsewhere. */
const released = new WeakSet<Sequelize>();

const ADVICE =
  'a model class has one database: list in the models of each engine only its own, declare a class for each database, ' +
  'or dispose the other engine first';

/** Holds an instance until the result is called: meanwhile its models are its own. */
export function holdInstance(sequelize: Sequelize): () => void {
  held.set(sequelize, (held.get(sequelize) ?? 0) + 1);
  let isHeld = true;
  return () => {
    if (isHeld) release(sequelize);
    isHeld = false;
  };
}

function release(sequelize: Sequelize): void {
  const others = (held.get(sequelize) ?? 1) - 1;
  if (others > 0) {
    held.set(sequelize, others);
    return;
  }
  held.delete(sequelize);
  released.add(sequelize);
}

/** Problems of models that an instance takes or has. One line for each model. */
export function ownerProblems(sequelize: Sequelize, models: readonly ModelClass[]): string[] {
  return models.flatMap((model) => {
    if (holderOf(model, sequelize)) {
      return [`${model.name} belongs to an engine in use, and another would take it over; ${ADVICE}.`];
    }
    const isLost = hasModel(sequelize, model) && model.sequelize !== sequelize;
    return isLost ? [lostProblem(model, 'was given to this Sequelize instance')] : [];
  });
}

/** Problems of models that another instance took from an engine in use. One line for each model. */
export function takeoverProblems(models: readonly ModelClass[]): string[] {
  return models
    .filter((model) => model.sequelize && holderOf(model, model.sequelize))
    .map((model) => lostProblem(model, 'belongs to an engine in use'));
}

/** A line about the models whose instance is closed. */
export function closedWarnings(models: readonly ModelClass[]): string[] {
  const names = models.filter(({ sequelize }) => sequelize && isClosed(sequelize)).map(({ name }) => name);
  if (names.length === 0) return [];
  return [
    `The engine of ${names.join(', ')} was disposed, so no request can be answered; write await engineLifespan(dsn)(app) before bootstrap, and ` +
      'dispose the engine when the application ends.',
  ];
}

/**
 * To be called before each use of a model by code that was built on it while `sequelize` had it.
 *
 * @throws ConfigError when another instance has it, and the first one is still in use
 */
export function checkOwner(model: ModelClass, sequelize: Sequelize | undefined): void {
  if (model.sequelize === sequelize || sequelize === undefined || isOver(sequelize)) return;
  throw new ConfigError([lostProblem(model, 'was served from one Sequelize instance')]);
}

/** The models that an instance has; none for a substitute that is no Sequelize. */
export function modelsOf({ models }: Sequelize): ModelClass[] {
  return Object.values(models ?? {}) as ModelClass[];
}

/** The engine's instance, other than this one, that has the model; another may have taken it over since. */
function holderOf(model: ModelClass, sequelize: Sequelize): Sequelize | undefined {
  return [...held.keys()].find((other) => other !== sequelize && hasModel(other, model) && !isClosed(other));
}

function hasModel(sequelize: Sequelize, model: ModelClass): boolean {
  return modelsOf(sequelize).includes(model);
}

function lostProblem({ name }: ModelClass, owned: string): string {
  return `${name} ${owned}, and another instance has taken it over since; ${ADVICE}.`;
}

/** True where its engine was disposed, or the user has closed it. */
function isOver(sequelize: Sequelize): boolean {
  return isClosed(sequelize) || (released.has(sequelize) && !held.has(sequelize));
}

/** Sequelize replaces `getConnection` of a manager that was closed. */
function isClosed({ connectionManager }: Sequelize): boolean {
  return Object.hasOwn(connectionManager, 'getConnection');
}
