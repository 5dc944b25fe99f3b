/**
 * Parts of routing-controllers that this package needs beyond its decorators: their storage, which it changes, and
 * methods of the driver, which it replaces. Both are checked before they are used: a list that is not there would
 * read as "no decorators".
 */
import { ExpressDriver, getMetadataArgsStorage, type MetadataArgsStorage } from 'routing-controllers';
import { groupBy } from '../../util/memo.js';
import { missingFrom, withFields } from '../../util/missing-internal.js';

// Bundlers follow a plain `require` only.
const { version } = require('routing-controllers/package.json') as { version: string };
const missing = missingFrom('routing-controllers', version);

const SEARCHES =
  'filterActionsWithTarget filterUsesWithTargetAndMethod filterInterceptorUsesWithTargetAndMethod ' +
  'filterParamsWithTargetAndMethod filterResponseHandlersWithTarget filterResponseHandlersWithTargetAndMethod';
const LISTS = 'controllers actions params uses useInterceptors responseHandlers middlewares interceptors';
const DRIVER_METHODS =
  'getParamFromRequest handleError handleSuccess registerAction registerMiddleware transformResult prepareMiddlewares';

/** Storage of the decorators of all classes of the process. */
export function routingStorage(): MetadataArgsStorage {
  return withFields(getMetadataArgsStorage(), 'MetadataArgsStorage', LISTS, missing);
}

/** Throws where routing-controllers would not call the methods that a driver overrides. */
export function checkDriver(): void {
  const methods: Partial<Record<(typeof DRIVER_METHODS)[number], unknown>> =
    ExpressDriver.prototype as object;
  withFields(methods, 'ExpressDriver', DRIVER_METHODS, missing);
}

/**
 * Runs work that searches the metadata of many classes. The storage searches all metadata for each class and each of its methods.
 * During the work it uses an index by class, which is made at the beginning. Nothing may be registered meanwhile.
 */
export function withMetadataIndex<T>(work: () => T): T {
  const storage = withFields(routingStorage(), 'MetadataArgsStorage', SEARCHES, missing);
  const targetOf = ({ target }: { readonly target: unknown }): unknown => target;
  const actions = indexed(storage.actions, targetOf);
  const uses = indexed(storage.uses, targetOf);
  const interceptors = indexed(storage.useInterceptors, targetOf);
  const params = indexed(storage.params, ({ object }) => object.constructor);
  const handlers = indexed(storage.responseHandlers, targetOf);
  const searches = {
    filterActionsWithTarget: actions,
    filterUsesWithTargetAndMethod: ofMethod(uses),
    filterInterceptorUsesWithTargetAndMethod: ofMethod(interceptors),
    filterParamsWithTargetAndMethod: ofMethod(params),
    filterResponseHandlersWithTarget: handlers,
    filterResponseHandlersWithTargetAndMethod: ofMethod(handlers),
  } satisfies Partial<MetadataArgsStorage>;
  Object.assign(storage, searches);
  try {
    return work();
  } finally {
    // The methods of the prototype are used again.
    for (const name of Object.keys(searches)) Reflect.deleteProperty(storage, name);
  }
}

type Find<T> = (target: unknown) => T[];

/** Finds the entries of a class, in their order. */
function indexed<T>(list: readonly T[], targetOf: (entry: T) => unknown): Find<T> {
  const byTarget = groupBy(list, targetOf);
  return (target) => byTarget.get(target) ?? [];
}

function ofMethod<T extends { readonly method?: string }>(find: Find<T>) {
  return (target: unknown, method: string): T[] => find(target).filter((entry) => entry.method === method);
}
