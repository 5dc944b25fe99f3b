/**
 * Combinations of the tests. Two decisions of the library make them: which code runs the SQL, and
 * which code writes the answer. Every application of a feature test has the parts that put a user's application into one.
 */
import type { Express } from 'express';
import { describe, it } from 'mocha';
import { crudRecords } from '../../src/declare/crud.js';
import { controllerSource } from '../../src/express/resources/crud-controller.js';
import type { BootstrapOptions, Class, IncludeOptions, ModelClass, RoutingOptions } from '../../src/index.js';
import { onSession, PassOn, throughRecords } from './combination-controllers.js';
import { COMBINATIONS, type Combination } from './combinations.js';
import { IS_POOLED } from './pooler.js';
import { runInUnit } from './run-in-unit.js';

const wanted = process.env['CRUD_TEST_PATH'] ?? 'fast';
if (!Object.hasOwn(COMBINATIONS, wanted))
  throw new Error(`CRUD_TEST_PATH is none of ${Object.keys(COMBINATIONS)}.`);
const combination = wanted as Combination;

/** The options of `bootstrap` for an application of a test, which may choose otherwise. */
export function inCombination(options: BootstrapOptions): BootstrapOptions {
  switch (combination) {
    case 'general':
      return { fastPath: false, ...options };
    case 'values': {
      const { routing } = options;
      // The library refuses it, and an object would take its place.
      if (!routing && 'routing' in options) return options;
      // Tests list classes; the type has names of files, too, and never both.
      const interceptors = [...(routing?.interceptors ?? []), PassOn] as RoutingOptions['interceptors'] & {};
      return { ...options, routing: { ...routing, interceptors } };
    }
    case 'session':
      return withControllers(options, onSession);
    case 'records':
      return withControllers(options, throughRecords);
    default:
      return options;
  }
}

/** Middlewares for an application of a test, before `bootstrap`. */
export function useCombination(app: Express, { models = [] }: BootstrapOptions): void {
  if (combination === 'unit') app.use(runInUnit(() => models.find(({ sequelize }) => sequelize)?.sequelize));
}

/** True where the combination begins sessions for requests that otherwise need none, as GETs with code of the user's do behind PgBouncer. */
export const addsSessions = IS_POOLED || ['unit', 'session', 'records'].includes(combination);

/** The option of a relation whose target is guarded by overrides, where it is the combination that overrides. */
export const UNGUARDED: IncludeOptions = ['session', 'records'].includes(combination) ? { where: 'all' } : {};

/** True where the models of a test may have endpoints of many records. */
export const SERVES_MANY = combination !== 'session';

/** True where the resources of a test may have aggregates: no application has them beside an override of `list`. */
export const SERVES_AGGREGATES = !['session', 'records'].includes(combination);

/** True where the resources of a test may have exports: no export goes through an override of `list`, or an interceptor. */
export const SERVES_EXPORTS = SERVES_AGGREGATES && combination !== 'values';

/** For `except`, where models have endpoints of many records, upserts or imports anyway. */
export const OF_MANY = {
  session:
    'it decorates parameters, which are read once for a request, so that no method with them serves many records',
};

const IS_LISTED = 'it has a method list, with which no application has feeds of changes';

/** For `except`, where feeds of changes are what is tested. */
export const OF_FEEDS = { session: IS_LISTED, records: IS_LISTED };

/** Expected means of a combination, such as a statement; where it is left out, those of the fast path. */
export function onPath<T>(expected: { readonly fast: T } & Partial<Record<Combination, T>>): T {
  return expected[combination] ?? expected.fast;
}

/**
 * `it` or `describe`, skipped in combinations where the test cannot hold, or behind PgBouncer. Each reason is about the means
 * of a combination, such as statements that it adds. Statuses, headers, bytes and rows are no reason: they are the same in all of them.
 *
 * @example `except({ session: 'it counts statements, and a session begins and commits' }).it('reads once', async () => {…})`
 */
export function except(reasons: Readonly<Partial<Record<Combination | 'pgbouncer', string>>>) {
  const isSkipped = reasons[combination] !== undefined || (IS_POOLED && reasons.pgbouncer !== undefined);
  return { it: isSkipped ? it.skip : it, describe: isSkipped ? describe.skip : describe };
}

/** Controllers of the user's stay: they are overrides themselves. */
function withControllers(
  options: BootstrapOptions,
  controllerOf: (model: ModelClass) => Class,
): BootstrapOptions {
  const { models = [], controllers = [] } = options;
  const extended = new Set(controllers.map((each) => controllerSource(each)?.repository.model));
  const declared = new Set(crudRecords().map(({ model }) => model));
  const generated = [...new Set(models)].filter((model) => declared.has(model) && !extended.has(model));
  return { ...options, controllers: [...controllers, ...generated.map(controllerOf)] };
}
