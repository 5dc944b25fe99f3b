/** Decorators of a route as data for the document: those of routing-controllers, and `@Answers`. */
import type { Class } from '../../declare/crud-options.js';
import type { Leniency } from '../../schema/class-json-schema.js';
import { declaredParameters } from '../resources/controller-metadata.js';
import { type ResourceParameter, recordKeys, resourceParameters } from '../resources/resource-parameters.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import type { RoutingOptions } from '../resources/routing-options.js';
import { isValidated, leniencyOf, parameterType } from '../resources/untyped-parameters.js';
import { type DeclaredRoute, declaredRoute } from './answers.js';

/** Where a parameter comes from; `queries` is the whole query string as a class, `body` the whole body. */
const SOURCES = [
  'param',
  'query',
  'queries',
  'header',
  'cookie',
  'body',
  'body-param',
  'file',
  'files',
] as const;

/** A parameter of a method that comes from the request. */
export interface ActionParameter {
  readonly source: (typeof SOURCES)[number];
  /** Empty for a whole query string or body. */
  readonly name: string;
  readonly isRequired: boolean;
  /** The class or constructor of its type, where there is one. */
  readonly type: Class | undefined;
  /** True for a list of such values. */
  readonly isArray: boolean;
  /** Rules of its class that are not applied. */
  readonly leniency: Leniency;
}

/** A method, as its decorators describe it. */
export interface ActionDescription {
  readonly parameters: readonly ActionParameter[];
  /** Parameters that it takes of its resource. */
  readonly takes: ReadonlySet<ResourceParameter>;
  /** Attributes that records are found by, each with a parameter of the path. */
  readonly recordKeys: readonly string[];
  /** Texts and answers that `@Answers` declares. */
  readonly declared: DeclaredRoute;
  /** Type of its result, as TypeScript has emitted it. */
  readonly returnType: Class | undefined;
  /** Status that `@HttpCode` declares. */
  readonly successStatus: number | undefined;
  /** Status that `@OnUndefined` declares. */
  readonly undefinedStatus: number | undefined;
  /** Status that `@OnNull` declares. */
  readonly nullStatus: number | undefined;
  /** Media type that `@ContentType` declares, or that of a template. */
  readonly mediaType: string | undefined;
  /** True with `@Redirect`. */
  readonly isRedirect: boolean;
  /** Status of a request that `@Authorized` refuses: 403 where it names roles, else 401. Undefined without one. */
  readonly refusedStatus: 401 | 403 | undefined;
}

/**
 * Describes a method of a controller, by the user's classes that it is made of.
 *
 * @param routing options of routing-controllers that the application has
 */
export function describeAction(
  lineage: readonly object[],
  method: string,
  routing: RoutingOptions = {},
): ActionDescription {
  const { responseHandlers } = routingStorage();
  const handlers = responseHandlers.filter((handler) => lineage.includes(handler.target));
  // The nearest class decides, and of one class the last decorator.
  const handledBy = (type: string): unknown =>
    lineage
      .map((target) =>
        handlers.find((each) => each.target === target && each.method === method && each.type === type),
      )
      .find((handler) => handler !== undefined)?.value;
  const statusOf = (type: string, usual?: number): number | undefined => {
    const value = handledBy(type) ?? usual;
    return typeof value === 'number' ? value : undefined;
  };
  const mediaType = handledBy('content-type') ?? (handledBy('rendered-template') ? 'text/html' : undefined);
  return Object.freeze({
    parameters: Object.freeze(parametersOf(lineage, method, routing)),
    takes: resourceParameters(lineage, method),
    recordKeys: recordKeys(lineage, method),
    declared: declaredRoute(lineage, method),
    returnType: emittedResult(lineage, method),
    successStatus: statusOf('success-code'),
    undefinedStatus: statusOf('on-undefined', routing.defaults?.undefinedResultCode),
    nullStatus: statusOf('on-null', routing.defaults?.nullResultCode),
    mediaType: typeof mediaType === 'string' ? mediaType : undefined,
    isRedirect: Boolean(handledBy('redirect')),
    refusedStatus: refusedStatus(
      handlers.filter(
        (handler) =>
          handler.type === 'authorized' && (handler.method === method || handler.method === undefined),
      ),
    ),
  });
}

/** Undefined for a promise, whose type is gone at run time. */
function emittedResult(lineage: readonly object[], method: string): Class | undefined {
  const [nearest] = lineage as readonly { readonly prototype: object }[];
  const type: Class | undefined =
    nearest && Reflect.getMetadata('design:returntype', nearest.prototype, method);
  return type === (Promise as unknown) ? undefined : type;
}

function refusedStatus(guards: readonly { readonly value?: unknown }[]): 401 | 403 | undefined {
  if (guards.length === 0) return undefined;
  return guards.flatMap(({ value }) => value ?? []).length === 0 ? 401 : 403;
}

function parametersOf(
  lineage: readonly object[],
  method: string,
  routing: RoutingOptions,
): ActionParameter[] {
  return declaredParameters(lineage, method)
    .sort((first, second) => first.index - second.index)
    .flatMap(({ type, name = '', required, explicitType, isArray, object, index, validate }) => {
      const source = SOURCES.find((each) => each === type);
      // Types that TypeScript emitted; other compilers emit none.
      const reflected: readonly (Class | undefined)[] =
        Reflect.getMetadata('design:paramtypes', object, method) ?? [];
      const declared = explicitType ?? reflected[index];
      // The client decides that a body is an array. Where the parameter is one, an explicit type is that of the items.
      const isOfBody = type === 'body' || type === 'body-param';
      const isList =
        isArray === true || type === 'files' || (isOfBody && (reflected[index] as unknown) === Array);
      // A body that is validated has to be there, unless its decorator says otherwise.
      const isAsked =
        type === 'body' &&
        isValidated(validate, routing) &&
        Boolean(parameterType(explicitType, reflected[index], isArray)?.target);
      const isRequired = required ?? isAsked;
      const leniency = leniencyOf(validate, routing);
      return source ? [{ source, name, isRequired, type: declared, isArray: isList, leniency }] : [];
    });
}
