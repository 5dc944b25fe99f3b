/** Validation of the parameters of the user's routes: options of the application, and those of a parameter. */
import type { ParameterArgs } from './controller-metadata.js';
import type { RoutingOptions } from './settings.js';

/** Unless the application says otherwise; routing-controllers itself lets classes without decorators pass. */
export const STRICT_VALIDATION = Object.freeze({
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  // Without the value nobody could tell whether a message quotes it.
  validationError: { target: false },
});

/** True where objects of a class without class-validator decorators are refused. */
export function refusesUndecorated(own: ParameterArgs['validate'], routing: RoutingOptions): boolean {
  const { validation = STRICT_VALIDATION, classTransformer = true } = routing;
  const isValidated = own instanceof Object || (own ?? Boolean(validation));
  const options = {
    ...(validation instanceof Object ? validation : {}),
    ...(own instanceof Object ? own : {}),
  };
  return classTransformer && isValidated && options.forbidUnknownValues === true;
}
