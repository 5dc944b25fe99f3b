/**
 * Parameters whose type says too little: without one a body is not validated, and `@Param() id: number` is a text. TypeScript emits
 * the types; esbuild, and all that is built on it, does not. Of a class without decorators every object is refused, and of
 * an array the type of its items is never emitted.
 */
import type { ValidatorOptions } from 'class-validator';
import type { Class } from '../../declare/crud-options.js';
import { type RouteSpec, routeNamed, routePath } from '../../operation/route-spec.js';
import { undecoratedProblems } from '../../schema/attribute-decorators.js';
import type { Leniency } from '../../schema/class-json-schema.js';
import { declaredActions, declaredParameters, lineageOf, type ParameterArgs } from './controller-metadata.js';
import { routingStorage } from './routing-controllers-internals.js';
import type { RoutingOptions } from './routing-options.js';

/** The decorators whose parameters come from a client. Values of the server itself need no conversion. */
const DECORATORS: Readonly<Partial<Record<ParameterArgs['type'], string>>> = {
  body: 'Body',
  'body-param': 'BodyParam',
  query: 'QueryParam',
  queries: 'QueryParams',
  param: 'Param',
  params: 'Params',
  header: 'HeaderParam',
  headers: 'HeaderParams',
  cookie: 'CookieParam',
  cookies: 'CookieParams',
};

/** True where the value of a parameter comes from a client. */
export function isOfClient(type: ParameterArgs['type']): boolean {
  return DECORATORS[type] !== undefined;
}

const ADVICE =
  'The types of parameters are in compiled code only where the compiler emits them: tsc with "emitDecoratorMetadata": true, ' +
  'swc with "decoratorMetadata": true (@swc-node/register for node, unplugin-swc for Vite before 8). tsx and esbuild ' +
  'cannot. A circular import loses them, too. By hand: @Body({ type: ArticleForm }), and for decorators without a ' +
  "type @Reflect.metadata('design:paramtypes', [Number, ArticleForm]) on the method.";

/** One line for each route with such parameters, and one with the fix. */
export function untypedParameterProblems(methods: readonly DescribedMethod[]): string[] {
  const problems = methods.flatMap(({ route, parameters }) => {
    const names = parameters.filter(isUntyped).map(decoratorOf);
    if (names.length === 0) return [];
    const effect = 'it would be neither converted nor validated';
    return [`${route}: the type of ${names.join(' and ')} is not known; ${effect}.`];
  });
  return problems.length > 0 ? [...problems, ADVICE] : [];
}

/** One line for each parameter whose class would refuse every object. */
export function undecoratedParameterProblems(
  methods: readonly DescribedMethod[],
  routing: RoutingOptions,
): string[] {
  return methods.flatMap(({ route, parameters }) =>
    parameters.flatMap((parameter) => {
      const target = parameterType(parameter.explicitType, parameter.declared, parameter.isArray)?.target;
      // A part of a path is no object.
      if (!target || parameter.type === 'param' || !refusesUndecorated(parameter.validate, routing))
        return [];
      return undecoratedProblems(target).map(
        (problem) =>
          `${route}: ${problem}, so ${decoratorOf(parameter)} would refuse every request; decorate the class, or write ` +
          'validate: false in the options of the parameter to take what is sent.',
      );
    }),
  );
}

/** One line for each body that is an array of items without a class. */
export function untypedListWarnings(methods: readonly DescribedMethod[], routing: RoutingOptions): string[] {
  return methods.flatMap(({ route, parameters }) =>
    parameters
      .filter(({ type }) => type === 'body' || type === 'body-param')
      .filter(({ explicitType, declared }) => (explicitType ?? declared) === Array)
      .filter(({ validate }) => refusesUndecorated(validate, routing))
      .map(
        (parameter) =>
          `${route}: the items of ${decoratorOf(parameter)} are not validated, because TypeScript emits no type of them; write ` +
          'type: Item in its options, with the class of an item, or String, Number or Boolean.',
      ),
  );
}

/** One line for each parameter without a decorator: routing-controllers fills it with the value of the next one, or with none. */
export function undecoratedArgumentProblems(methods: readonly DescribedMethod[]): string[] {
  return methods.flatMap(({ route, undecorated }) =>
    undecorated.map(
      (index) =>
        `${route}: parameter ${index + 1} has no decorator, so it would have no value, or that of the next one; put one on it, ` +
        'such as @Body() or @InjectRecord(), or give it a default value where requests have none.',
    ),
  );
}

type TypedParameter = ParameterArgs & { readonly declared: unknown };

/** A method with parameters, and how a message names it. */
interface DescribedMethod {
  readonly route: string;
  /** Parameters of the method, in their order. */
  readonly parameters: readonly TypedParameter[];
  /** Indexes of its parameters without a decorator. */
  readonly undecorated: readonly number[];
}

/** The methods with parameters of controllers. @param routes all that methods can serve */
export function methodsOf(
  controllers: readonly Class[],
  routes: readonly RouteSpec[],
): readonly DescribedMethod[] {
  return controllers.flatMap((controller) => methodsOfOne(controller, routes));
}

function methodsOfOne(controller: Class, routes: readonly RouteSpec[]): DescribedMethod[] {
  const lineage = lineageOf(controller);
  const actions = new Map(declaredActions(lineage).map((action) => [action.method, action]));
  const isOurs = ({ object }: ParameterArgs): boolean => lineage.includes(object.constructor);
  const decorated = routingStorage()
    .params.filter(isOurs)
    .map(({ method }) => method);
  const methods = new Set([...decorated, ...actions.keys()]);
  return [...methods].flatMap((method) => {
    const action = actions.get(method);
    const generated = routeNamed(routes, method);
    const route = action
      ? `${action.type} ${prefixOf(controller)}${action.route ?? ''}`
      : generated && `${generated.verb} ${routePath('', generated)}`;
    if (route === undefined) return [];
    const [verb = '', path = ''] = route.split(' ');
    return [
      {
        route: `${controller.name}.${method} (${verb.toUpperCase()} ${path || '/'})`,
        parameters: typedParameters(controller, lineage, method),
        undecorated: action && !action.appendParams ? undecoratedArguments(controller, lineage, method) : [],
      },
    ];
  });
}

/** Arguments without a decorator. An override has none, because the generated route calls it with all of its arguments. */
function undecoratedArguments(controller: Class, lineage: readonly object[], method: string): number[] {
  const prototypes = lineage.map((target) => (target as Class).prototype as object);
  if (prototypes.filter((prototype) => Object.hasOwn(prototype, method)).length > 1) return [];
  const decorated = declaredParameters(lineage, method).map(({ index }) => index);
  const code: unknown = Reflect.get(controller.prototype as object, method);
  const length = Math.max(code instanceof Function ? code.length : 0, ...decorated.map((index) => index + 1));
  return Array.from({ length }, (_, index) => index).filter((index) => !decorated.includes(index));
}

function typedParameters(controller: Class, lineage: readonly object[], method: string): TypedParameter[] {
  const types: readonly unknown[] =
    Reflect.getMetadata('design:paramtypes', controller.prototype, method) ?? [];
  return declaredParameters(lineage, method)
    .map((parameter) => ({ ...parameter, declared: types[parameter.index] }))
    .filter(({ type }) => isOfClient(type))
    .sort((first, second) => first.index - second.index);
}

function isUntyped({ explicitType, declared }: TypedParameter): boolean {
  return (explicitType ?? declared) === undefined;
}

function decoratorOf({ type, name }: ParameterArgs): string {
  return `@${DECORATORS[type]}(${name ? `'${name}'` : ''})`;
}

/** The prefix of a hand-written controller. A resource has its prefix only when it is compiled. */
function prefixOf(controller: Class): string {
  return routingStorage().controllers.find(({ target }) => target === controller)?.route ?? '';
}

/** Type that the value of a parameter has to have. */
export interface ParameterType {
  /** Null where any value will do, or a plain one. */
  readonly target: Class | null;
  readonly isList: boolean;
}

/** Types whose values have no properties to validate. */
const PLAIN: ReadonlySet<unknown> = new Set([Object, Array, String, Number, Boolean, Date, BigInt, Symbol]);

/**
 * The type that the value of a parameter is converted to.
 *
 * @param explicit the type in the options of the decorator
 * @param declared the type that the compiler has emitted
 * @returns null where the value is not converted
 */
export function parameterType(explicit: unknown, declared: unknown, isArray = false): ParameterType | null {
  const type = explicit ?? declared;
  const isList = isArray || declared === Array || type === Array;
  const target = typeof type === 'function' && !PLAIN.has(type) ? (type as Class) : null;
  return target || isList ? { target, isList } : null;
}

/** Validation of parameters, unless the application says otherwise; routing-controllers itself lets classes without decorators pass. */
export const STRICT_VALIDATION = Object.freeze({
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  // Without the value no code can find a message that quotes it.
  validationError: { target: false },
});

/** True where objects of a class without class-validator decorators are refused. */
function refusesUndecorated(own: ParameterArgs['validate'], routing: RoutingOptions): boolean {
  return isValidated(own, routing) && validatorOptions(own, routing).forbidUnknownValues === true;
}

function validatorOptions(own: ParameterArgs['validate'], routing: RoutingOptions): ValidatorOptions {
  const { validation = STRICT_VALIDATION } = routing;
  return { ...(validation instanceof Object ? validation : {}), ...(own instanceof Object ? own : {}) };
}

/** Rules of its class that a parameter need not follow. */
export function leniencyOf(own: ParameterArgs['validate'], routing: RoutingOptions): Leniency {
  const options = validatorOptions(own, routing);
  const isMissingSkipped = options.skipMissingProperties === true;
  return {
    // With groups, decorators without one are not applied.
    isUnchecked: !isValidated(own, routing) || (options.groups ?? []).length > 0,
    takesUnknown: !(options.whitelist && options.forbidNonWhitelisted),
    takesAbsent: isMissingSkipped || options.skipUndefinedProperties === true,
    takesNull: isMissingSkipped || options.skipNullProperties === true,
  };
}

/** True where a parameter with a class as its type is validated. */
export function isValidated(own: ParameterArgs['validate'], routing: RoutingOptions): boolean {
  const { validation = STRICT_VALIDATION, classTransformer = true } = routing;
  return classTransformer && (own instanceof Object || (own ?? Boolean(validation)));
}
