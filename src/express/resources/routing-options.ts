/** The option `routing`: routing-controllers takes a wrong one without an error, and a guard in it would never run. */
import type { RoutingControllersOptions } from 'routing-controllers';
import { isPlain } from '../../compile/compile-options.js';
import type { Class } from '../../declare/crud-options.js';
import { listProblems, showValue, unknownOptions, withoutSlash } from '../../util/option-problems.js';
import { routingStorage } from './routing-controllers-internals.js';

/** The options of routing-controllers that are the user's to set. */
export type RoutingOptions = Omit<
  RoutingControllersOptions,
  'controllers' | 'routePrefix' | 'defaultErrorHandler'
>;

const NAMES: Readonly<Record<keyof RoutingOptions, true>> = {
  authorizationChecker: true,
  currentUserChecker: true,
  interceptors: true,
  middlewares: true,
  classTransformer: true,
  classToPlainTransformOptions: true,
  plainToClassTransformOptions: true,
  validation: true,
  development: true,
  errorOverridingMap: true,
  cors: true,
  defaults: true,
};

/** Options of `bootstrap` in whose place routing-controllers has others. */
export interface OwnPlaces {
  readonly routePrefix: string;
  readonly controllers: readonly Class[];
}

/** Everything that is wrong with the options. @param places none for a router, whose prefix is that of its mounting */
export function routingProblems(routing: unknown, places: OwnPlaces | null): string[] {
  if (!isPlain(routing))
    return [`routing is ${showValue(routing)}; use an object of options of routing-controllers.`];
  const all: RoutingControllersOptions = routing as object;
  const { controllers: _controllers, routePrefix: _prefix, defaultErrorHandler: _handler, ...given } = all;
  const { middlewares = [], interceptors = [] } = given;
  const storage = routingStorage();
  return [
    ...unknownOptions('routing', given, Object.keys(NAMES)),
    // A variable that was never set must not switch a guard off.
    ...Object.entries(given)
      .filter(([name, value]) => name in NAMES && value === undefined)
      .map(([name]) => `routing.${name} is undefined; give it a value, or leave it out.`),
    ...classProblems('middlewares', middlewares, 'Middleware', storage.middlewares),
    ...classProblems('interceptors', interceptors, 'Interceptor', storage.interceptors),
    ...placeProblems(all, places),
  ];
}

function classProblems(
  name: string,
  list: unknown,
  decorator: string,
  decorated: readonly { readonly target: unknown }[],
): string[] {
  if (!Array.isArray(list)) return listProblems(`routing.${name}`, list, `classes with @${decorator}`);
  // A text is a path, from which routing-controllers loads the classes.
  return list
    .filter((each) => typeof each !== 'string' && !decorated.some(({ target }) => target === each))
    .map((each) =>
      typeof each === 'function'
        ? `routing.${name} has ${each.name}, which has no @${decorator} and would not run; decorate it.`
        : `routing.${name} has ${showValue(each)}; use classes with @${decorator}.`,
    );
}

/** One object of options may be for a server of routing-controllers, too. */
function placeProblems(
  { routePrefix, controllers, defaultErrorHandler = false }: RoutingControllersOptions,
  places: OwnPlaces | null,
): string[] {
  const served: readonly unknown[] = places?.controllers ?? [];
  const isServed = Array.isArray(controllers) && controllers.every((each) => served.includes(each));
  const problems: string[] = [];
  if (routePrefix !== undefined && withoutSlash(String(routePrefix)) !== (places?.routePrefix ?? ''))
    problems.push(
      `routing.routePrefix is ${showValue(routePrefix)}; ` +
        (places ? 'use routePrefix of bootstrap.' : 'mount the router below that path.'),
    );
  if (controllers !== undefined && !isServed)
    problems.push(
      `routing.controllers is ${showValue(controllers)}; use controllers of bootstrap, or leave it out where another server has them.`,
    );
  if (defaultErrorHandler !== false)
    problems.push(
      `routing.defaultErrorHandler is ${showValue(defaultErrorHandler)}; leave it out, as errors are answered as problems.`,
    );
  return problems;
}
