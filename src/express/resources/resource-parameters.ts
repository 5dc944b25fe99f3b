/** Parameters of the user's methods that come from the resource of their controller: their kinds, and the methods that may have them. */
import type { Class } from '../../declare/crud-options.js';
import { isUsual, type RouteSpec, routeNamed, routePath } from '../../operation/route-spec.js';
import { declaredActions, declaredParameters, lineageOf, type ParameterArgs } from './controller-metadata.js';
import { CrudController, controllerSource } from './crud-controller.js';
import { routingStorage } from './routing-controllers-internals.js';

/** Kinds of parameters that a resource provides. */
export type ResourceParameter = 'id' | 'record' | 'recordBy' | 'listQuery' | 'context';

const DECORATORS: Readonly<Record<ResourceParameter, string>> = {
  id: '@InjectId()',
  record: '@InjectRecord()',
  recordBy: '@InjectRecord({ by })',
  listQuery: '@InjectListQuery()',
  context: '@InjectContext()',
};

/** Refuses to read a parameter until its controller is mounted. */
function unbound(parameter: ResourceParameter): () => never {
  return () => {
    throw new TypeError(`${DECORATORS[parameter]} stands on a controller that this package has not mounted.`);
  };
}

/** Functions that identify the parameters among those of routing-controllers. */
export const UNBOUND: Readonly<Record<Exclude<ResourceParameter, 'recordBy'>, () => never>> = {
  id: unbound('id'),
  record: unbound('record'),
  listQuery: unbound('listQuery'),
  context: unbound('context'),
};

/** Attributes that records are found by, where it is another one than that of the resource. */
const RECORD_KEYS = new WeakMap<object, string>();

/** The same for a record that is found by another attribute. */
export function unboundRecord(by: string): () => never {
  const read = unbound('recordBy');
  RECORD_KEYS.set(read, by);
  return read;
}

/** The attribute that a record is found by; undefined for any other parameter. */
export function recordKey({ transform }: ParameterArgs): string | undefined {
  return transform && RECORD_KEYS.get(transform);
}

/** The attributes that records of a method are found by. */
export function recordKeys(lineage: readonly object[], method: string): readonly string[] {
  return declaredParameters(lineage, method).flatMap((each) => recordKey(each) ?? []);
}

const KINDS = new Map<unknown, ResourceParameter>(
  Object.entries(UNBOUND).map(([kind, read]) => [read, kind as ResourceParameter]),
);

/** Kind of a decorated parameter of a resource; undefined for any other. */
export function resourceParameter(parameter: ParameterArgs): ResourceParameter | undefined {
  return recordKey(parameter) === undefined ? KINDS.get(parameter.transform) : 'recordBy';
}

/** Kinds of parameters that a method has. */
export function resourceParameters(
  lineage: readonly object[],
  method: string,
): ReadonlySet<ResourceParameter> {
  return new Set(declaredParameters(lineage, method).flatMap((each) => resourceParameter(each) ?? []));
}

/** Names of the query parameters that a method reads by itself. */
export function ownQueryParameters(lineage: readonly object[], method: string): readonly string[] {
  return declaredParameters(lineage, method).flatMap(({ type, name }) =>
    type === 'query' && name ? name : [],
  );
}

/** One line for each parameter that could not be read at its place. */
export function resourceParameterProblems(
  controllers: readonly Class[],
  routes: readonly RouteSpec[],
): string[] {
  return controllers.flatMap((controller) => {
    const isExtended = controllerSource(controller) !== undefined;
    const lineage = lineageOf(controller, isExtended ? CrudController : undefined);
    const isOurs = ({ object }: ParameterArgs): boolean => lineage.includes(object.constructor);
    const methods = new Set(
      routingStorage()
        .params.filter(isOurs)
        .map(({ method }) => method),
    );
    return [...methods].flatMap((method) =>
      [...resourceParameters(lineage, method)].flatMap((parameter) => {
        const problem = isExtended ? placeProblem(lineage, method, parameter, routes) : NO_RESOURCE;
        return problem === undefined
          ? []
          : `${controller.name}.${method} has ${DECORATORS[parameter]}, ${problem}`;
      }),
    );
  });
}

const NO_RESOURCE =
  'but the controller has no resource; extend crudController(Model) in it, or take @Param() and @InjectRepository(Model).';

function placeProblem(
  lineage: readonly object[],
  method: string,
  parameter: ResourceParameter,
  routes: readonly RouteSpec[],
): string | undefined {
  if (parameter === 'listQuery') {
    const generated = routeNamed(routes, method);
    const isOwn = declaredActions(lineage).some((action) => action.method === method);
    if (generated && (isUsual(generated) || !isOwn))
      return 'but a generated method reads its query string itself; move it to a route of your own.';
    const readsAll = declaredParameters(lineage, method).some(({ type }) => type === 'queries');
    return readsAll
      ? 'and @QueryParams(), which would refuse the parameters of the list; name single ones with @QueryParam().'
      : undefined;
  }
  if (parameter === 'context') return undefined;
  const needed = parameter === 'recordBy' ? recordKeys(lineage, method) : ['id'];
  return pathsOf(lineage, method, routes).flatMap((path) => {
    const missing = needed.find((name) => typeof path !== 'string' || !hasParameter(path, name));
    return missing === undefined
      ? []
      : `but its path '${path}' has no ':${missing}'; name the parameter of the path so, or take @Param().`;
  })[0];
}

function hasParameter(path: string, name: string): boolean {
  return [...path.matchAll(/:(\w+)/g)].some(([, each]) => each === name);
}

function pathsOf(
  lineage: readonly object[],
  method: string,
  routes: readonly RouteSpec[],
): readonly (string | RegExp)[] {
  const declared = declaredActions(lineage).filter((action) => action.method === method);
  if (declared.length > 0) return declared.map(({ route }) => route);
  return routes.filter((route) => route.method === method).map((route) => routePath('', route));
}
