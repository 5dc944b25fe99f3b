/**
 * What this package needs of routing-controllers beyond its decorators: the storage of what they say, which it changes, and
 * methods of the driver, in whose place it puts others. Both are looked at before they are used: a list that is not there
 * would read as "no decorators".
 */
import { createRequire } from 'node:module';
import { ExpressDriver, getMetadataArgsStorage, type MetadataArgsStorage } from 'routing-controllers';
import { missingFrom, withFields } from '../../util/missing-internal.js';

const { version } = createRequire(__filename)('routing-controllers/package.json') as { version: string };
const missing = missingFrom('routing-controllers', version);

const LISTS = 'controllers actions params uses useInterceptors responseHandlers middlewares';
const DRIVER_METHODS =
  'getParamFromRequest handleError handleSuccess registerAction registerMiddleware transformResult prepareMiddlewares';

/** What the decorators of all classes of the process say. */
export function routingStorage(): MetadataArgsStorage {
  return withFields(getMetadataArgsStorage(), 'MetadataArgsStorage', LISTS, missing);
}

/** Throws where routing-controllers would not call what a driver has in the place of its own methods. */
export function checkDriver(): void {
  const methods: Partial<Record<(typeof DRIVER_METHODS)[number], unknown>> =
    ExpressDriver.prototype as object;
  withFields(methods, 'ExpressDriver', DRIVER_METHODS, missing);
}
