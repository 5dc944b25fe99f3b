/** Decorators of a route as data for the document: those of routing-controllers, and `@Answers`. */
import type { Class } from '../../declare/crud-options.js';
import { foundInstead } from '../../describe/record.js';
import { ConfigError } from '../../util/config-error.js';
import { declaredParameters } from '../resources/controller-metadata.js';
import { type ResourceParameter, resourceParameters } from '../resources/resource-parameters.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';

/** Where a parameter comes from; `queries` is the whole query string as a class, `body` the whole body. */
const SOURCES = ['param', 'query', 'queries', 'header', 'cookie', 'body', 'body-param'] as const;

/** A parameter of a method that comes from the request. */
export interface ActionParameter {
  readonly source: (typeof SOURCES)[number];
  /** Empty for a whole query string or body. */
  readonly name: string;
  readonly isRequired: boolean;
  /** The class or constructor its type was given as, where there is one. */
  readonly type: Class | undefined;
  /** True for a list of such values. */
  readonly isArray: boolean;
}

/** A method, as its decorators describe it. */
export interface ActionDescription {
  readonly parameters: readonly ActionParameter[];
  /** Parameters that it takes of its resource. */
  readonly takes: ReadonlySet<ResourceParameter>;
  /** Answer that `@Answers` declares. */
  readonly answer: AnswerType | undefined;
  /** Status that `@HttpCode` declares. */
  readonly successStatus: number | undefined;
  /** Status that `@OnUndefined` declares. */
  readonly undefinedStatus: number | undefined;
  /** Status of a request that `@Authorized` refuses: 403 where it names roles, else 401. Undefined without one. */
  readonly refusedStatus: 401 | 403 | undefined;
}

/** Describes a method of a controller, by the user's classes that it is made of. */
export function describeAction(lineage: readonly object[], method: string): ActionDescription {
  const { responseHandlers } = routingStorage();
  const handlers = responseHandlers.filter((handler) => lineage.includes(handler.target));
  // The nearest class decides, and of one class the last decorator.
  const statusOf = (type: string): number | undefined => {
    const value: unknown = lineage
      .map((target) =>
        handlers.find((each) => each.target === target && each.method === method && each.type === type),
      )
      .find((handler) => handler !== undefined)?.value;
    return typeof value === 'number' ? value : undefined;
  };
  return Object.freeze({
    parameters: Object.freeze(parametersOf(lineage, method)),
    takes: resourceParameters(lineage, method),
    answer: declaredAnswer(lineage, method),
    successStatus: statusOf('success-code'),
    undefinedStatus: statusOf('on-undefined'),
    refusedStatus: refusedStatus(
      handlers.filter(
        (handler) =>
          handler.type === 'authorized' && (handler.method === method || handler.method === undefined),
      ),
    ),
  });
}

function refusedStatus(guards: readonly { readonly value?: unknown }[]): 401 | 403 | undefined {
  if (guards.length === 0) return undefined;
  return guards.flatMap(({ value }) => value ?? []).length === 0 ? 401 : 403;
}

function parametersOf(lineage: readonly object[], method: string): ActionParameter[] {
  return declaredParameters(lineage, method)
    .sort((first, second) => first.index - second.index)
    .flatMap(({ type, name = '', required, explicitType, isArray, object, index }) => {
      const source = SOURCES.find((each) => each === type);
      // Types that TypeScript emitted; other compilers emit none.
      const reflected: readonly (Class | undefined)[] =
        Reflect.getMetadata('design:paramtypes', object, method) ?? [];
      const declared = explicitType ?? reflected[index];
      // A body is whatever was sent: a type that is given is that of the items where the parameter is an array.
      const isOfBody = type === 'body' || type === 'body-param';
      const isList = isArray === true || (isOfBody && (reflected[index] as unknown) === Array);
      return source ? [{ source, name, isRequired: required === true, type: declared, isArray: isList }] : [];
    });
}

/** A class, or a list of its instances. */
export type AnswerType = Class | readonly [Class];

const ANSWERS = new WeakMap<object, Map<string | symbol, AnswerType>>();

/**
 * Describes in the OpenAPI document what a route of yours answers; the type of its promise is gone at run time. A model means its records as they
 * are answered, `[City]` for an array of them. Any other class is described by its class-validator and class-transformer decorators.
 * Nothing is checked or converted. For methods with a route of their own: what generated methods answer is known.
 *
 * @example
 * ```ts
 * @Get('/capitals')
 * @Answers([City])
 * capitals(@InjectRepository(City) cities: Repository<City>) {
 *   return cities.list({ where: { isCapital: true } });
 * }
 * ```
 * @throws ConfigError when it is neither a class nor an array of one
 */
export function Answers(type: AnswerType): MethodDecorator {
  const [only, ...others] = Array.isArray(type) ? type : [type];
  if (typeof only !== 'function' || others.length > 0) {
    const found = Array.isArray(type) ? `an array of ${type.length}` : foundInstead(type);
    throw new ConfigError([`@Answers expects a class, or an array of one class; got ${found}.`]);
  }
  return (prototype, method) => {
    const ofClass = ANSWERS.get(prototype.constructor) ?? new Map<string | symbol, AnswerType>();
    ANSWERS.set(prototype.constructor, ofClass);
    ofClass.set(method, type);
  };
}

/** Answer of a method, declared by the nearest class that has one. */
function declaredAnswer(lineage: readonly object[], method: string): AnswerType | undefined {
  for (const target of lineage) {
    const type = ANSWERS.get(target)?.get(method);
    if (type) return type;
  }
  return undefined;
}
