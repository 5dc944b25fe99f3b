/**
 * Parameters of which routing-controllers has to know the type, and does not: without it a body is not validated, and
 * `@Param() id: number` is a text. TypeScript emits the types; esbuild, and all that is built on it, does not.
 */
import type { Class } from '../../metadata/crud-options.js';
import { declaredActions, declaredParameters, lineageOf, type ParameterArgs } from './controller-metadata.js';
import { routeNamed, routePath } from './generated-routes.js';
import { routingStorage } from './routing-controllers-internals.js';

/** The decorators whose parameters come from a client. What the server itself gives needs no conversion. */
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

const ADVICE =
  'The types of parameters are in compiled code only where the compiler emits them: tsc with "emitDecoratorMetadata": true, ' +
  'swc with "decoratorMetadata": true (@swc-node/register for node, unplugin-swc for Vite before 8). tsx and esbuild ' +
  'cannot. A circular import loses them, too. By hand: @Body({ type: ArticleForm }), and for decorators without a ' +
  "type @Reflect.metadata('design:paramtypes', [Number, ArticleForm]) on the method.";

/** One line for each route with such parameters, and one that says what to do. */
export function untypedParameterProblems(controllers: readonly Class[]): string[] {
  const problems = controllers.flatMap((controller) => controllerProblems(controller));
  return problems.length > 0 ? [...problems, ADVICE] : [];
}

function controllerProblems(controller: Class): string[] {
  const lineage = lineageOf(controller);
  const actions = new Map(declaredActions(lineage).map((action) => [action.method, action]));
  const isOurs = ({ object }: ParameterArgs): boolean => lineage.includes(object.constructor);
  const methods = new Set(
    routingStorage()
      .params.filter(isOurs)
      .map(({ method }) => method),
  );
  return [...methods].flatMap((method) => {
    const action = actions.get(method);
    const generated = routeNamed(method);
    const route = action
      ? `${action.type} ${prefixOf(controller)}${action.route ?? ''}`
      : generated && `${generated.verb} ${routePath('', generated)}`;
    const names = untypedNames(controller, lineage, method);
    if (route === undefined || names.length === 0) return [];
    const [verb = '', path = ''] = route.split(' ');
    return [
      `${controller.name}.${method} (${verb.toUpperCase()} ${path || '/'}): the type of ${names.join(' and ')} is not known; ` +
        'it would be neither converted nor validated.',
    ];
  });
}

function untypedNames(controller: Class, lineage: readonly object[], method: string): string[] {
  const types: readonly unknown[] =
    Reflect.getMetadata('design:paramtypes', controller.prototype, method) ?? [];
  return declaredParameters(lineage, method)
    .filter(({ explicitType, index }) => (explicitType ?? types[index]) === undefined)
    .sort((first, second) => first.index - second.index)
    .flatMap(({ type, name }) => {
      const decorator = DECORATORS[type];
      return decorator === undefined ? [] : [`@${decorator}(${name ? `'${name}'` : ''})`];
    });
}

/** Of a hand-written controller; the prefix of a resource is known only when it is compiled. */
function prefixOf(controller: Class): string {
  return routingStorage().controllers.find(({ target }) => target === controller)?.route ?? '';
}
