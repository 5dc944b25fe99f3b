/** The resources of an application -> its OpenAPI 3.1 document. Pure: the same plan that makes the routes describes them. */

import type { Endpoint, ModelClass } from '../declare/crud-options.js';
import { refuseMinified } from '../describe/minified-names.js';
import {
  type ControllerRoute,
  type HandWrittenRoute,
  lineageOf,
} from '../express/resources/controller-metadata.js';
import { CrudController } from '../express/resources/crud-controller.js';
import type { RoutingOptions } from '../express/resources/routing-options.js';
import { type ActionDescription, describeAction } from '../express/routes/describe-action.js';
import type { MountedRouter } from '../express/routes/mount-resources.js';
import type { HealthOptions } from '../health/health-options.js';
import type { Feature } from '../operation/feature.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { addedOperation, takesId, withDeclared } from './added-operation.js';
import type { DescribedAction, DescribedResource, DescribedRoute } from './described-route.js';
import type { ResolvedDocs } from './docs-options.js';
import { generatedOperation } from './generated-operation.js';
import { HEALTH_SCHEMAS, HEALTH_TAG, healthPaths } from './health-paths.js';
import { NamedSchemas } from './named-schemas.js';
import {
  DOCUMENT_METHODS,
  type DocumentMethod,
  documentPath,
  type OpenAPIObject,
  type OperationObject,
  type PathParameter,
  type SecurityRequirement,
  shownParameters,
  type TagObject,
  templateShape,
} from './openapi-object.js';
import { PROBLEM_SCHEMAS, problemResponses, withOpenProblems } from './problem-responses.js';
import {
  type MakeName,
  nameMaker,
  ownSchema,
  pascalCase,
  resourceNames,
  resourceSchemas,
} from './resource-schemas.js';

interface DocumentSource {
  readonly info: OpenAPIObject['info'];
  readonly securitySchemes: ResolvedDocs['securitySchemes'];
  readonly isPartial: ResolvedDocs['isPartial'];
  /** Options that decide about routes of the user's: their bodies, and the status of an empty result. */
  readonly routing: RoutingOptions;
  readonly routes: MountedRouter['routes'];
  readonly handWritten: MountedRouter['handWritten'];
  readonly routePrefix: string;
  readonly health: HealthOptions | false;
  /** True where the application makes the bodies of errors. */
  readonly isProblemOwn: boolean;
}

/** Writes the document, a resource in each step. */
export function* writeDocument({
  info,
  securitySchemes,
  isPartial,
  routing,
  routes,
  handWritten,
  routePrefix,
  health,
  isProblemOwn,
}: DocumentSource): Generator<void, OpenAPIObject> {
  const names = resourceNames(routes.map(({ resource }) => resource.plan));
  const described = routes.map(({ resource: { plan, routes, features } }, index) => ({
    plan,
    routes,
    names: names[index] as DescribedResource['names'],
    features,
    isPartial,
  }));
  const byModel = new Map(described.map((each) => [each.plan.model, each]));
  const makeName = nameMaker([...FIXED_NAMES, ...names.flatMap(({ schemas }) => Object.values(schemas))]);
  const owners = new Map(
    described.flatMap((each) => Object.values(each.names.schemas).map((name) => [name, each] as const)),
  );
  const draft = new DocumentDraft(
    routePrefix,
    makeName,
    Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    new NamedSchemas(makeName, {
      recordOf: (model) => byModel.get(model as ModelClass)?.names.schemas.written,
      write(name, refer) {
        const owner = owners.get(name);
        return owner && ownSchema(owner, name, refer);
      },
    }),
  );
  for (const [index, { resource, registered }] of routes.entries()) {
    draft.addResource(
      described[index] as DescribedResource,
      registered.routes.filter(({ isRefused }) => !isRefused()),
      (method) => describeAction(lineageOf(resource.controller, CrudController), method, routing),
      (model) => byModel.get(model) as DescribedResource,
    );
    yield;
  }
  for (const { controller, routes: own } of handWritten) {
    refuseMinified(controller);
    draft.addController(controller.name, own, (method) =>
      describeAction(lineageOf(controller), method, routing),
    );
  }
  if (health) draft.addHealth(health);
  const finished = draft.finish(described.flatMap((each) => each.features.all));
  const { components, ...parts } = isProblemOwn ? withOpenProblems(finished) : finished;
  const isSecured = Object.keys(securitySchemes).length > 0;
  return deepFreeze({
    openapi: '3.1.0',
    info,
    servers: [{ url: '/', description: 'This server.' }],
    // The application's own code decides the rights of a client.
    security: isSecured ? [{}, ...draft.requirements] : [],
    ...parts,
    components: { ...components, ...(isSecured ? { securitySchemes } : {}) },
  });
}

const FIXED_NAMES = Object.keys({ ...PROBLEM_SCHEMAS, ...HEALTH_SCHEMAS });

class DocumentDraft {
  readonly #tags = new Map<string, TagObject>();
  /** By shape: the first route of a path names its parameters. */
  readonly #paths = new Map<
    string,
    { template: string; item: Partial<Record<DocumentMethod, OperationObject>> }
  >();
  readonly #schemas: Record<string, JsonSchema> = {};
  readonly #makeOperationId = nameMaker([]);

  constructor(
    private readonly routePrefix: string,
    /** Makes names of schemas beside those of the resources. */
    private readonly makeName: MakeName,
    /** Each way in which a client can say who it is. */
    readonly requirements: readonly SecurityRequirement[],
    private readonly named: NamedSchemas,
  ) {}

  addResource(
    resource: DescribedResource,
    routes: readonly ControllerRoute[],
    describe: (method: string) => ActionDescription,
    resourceOf: DescribedAction['resourceOf'],
  ): void {
    const operations = new Set<Endpoint>();
    // Express matches them in the other order; people search for the generated ones first.
    const isAdded = ({ spec }: ControllerRoute): number => (spec ? 0 : 1);
    for (const route of routes.toSorted((first, second) => isAdded(first) - isAdded(second))) {
      const action = describe(route.spec?.single?.method ?? route.method);
      if (!this.#addRoute(resource, route, action, resourceOf)) continue;
      // The answer of a method with a list query is made of the same schemas.
      const operation =
        route.spec?.parses ?? route.spec?.operation ?? (action.takes.has('listQuery') ? 'list' : undefined);
      const isOfOther = route.spec?.executes !== undefined;
      if (operation && !isOfOther) operations.add(operation);
    }
    const own = resourceSchemas(resource, operations, this.makeName, this.named.refer);
    Object.assign(this.#schemas, PROBLEM_SCHEMAS, own);
    for (const name of resource.plan.tags) this.#addTag(name, resource);
  }

  addController(
    name: string,
    routes: readonly HandWrittenRoute[],
    describe: (method: string) => ActionDescription,
  ): void {
    const short = name.replace(/(?<=.)Controller$/, '');
    const owner = { tags: [short], suffix: pascalCase(short), resource: null, refer: this.named.refer };
    const shown = routes.filter((route) => {
      const action = describe(route.method);
      return this.#describe(route, action, (parameters) =>
        addedOperation(owner, route.method, route.verb, action, parameters),
      );
    });
    if (shown.length === 0) return;
    Object.assign(this.#schemas, PROBLEM_SCHEMAS);
    if (!this.#tags.has(short)) this.#tags.set(short, { name: short, description: `Routes of \`${name}\`.` });
  }

  addHealth(options: HealthOptions): void {
    const isSecured = this.requirements.length > 0;
    for (const [template, { get, ...item }] of Object.entries(healthPaths(options))) {
      const open = get && { get: isSecured ? { ...get, security: [] } : get };
      this.#paths.set(templateShape(template), { template, item: { ...item, ...open } });
    }
    Object.assign(this.#schemas, PROBLEM_SCHEMAS, HEALTH_SCHEMAS);
    this.#tags.set(HEALTH_TAG.name, HEALTH_TAG);
  }

  finish(features: readonly Feature[]): Pick<OpenAPIObject, 'tags' | 'paths' | 'components'> {
    const paths = [...this.#paths.values()];
    const responses = paths
      .flatMap(({ item }) => Object.values(item))
      .flatMap((operation) => Object.entries(operation.responses));
    const referred = responses.filter(([, response]) => '$ref' in response).map(([status]) => status);
    return {
      tags: [...this.#tags.values()],
      paths: Object.fromEntries(paths.map(({ template, item }) => [template, item])),
      components: {
        schemas: { ...this.#schemas, ...this.named.schemas },
        responses: problemResponses(new Set(referred), features),
      },
    };
  }

  /** False where OpenAPI cannot express it. */
  #addRoute(
    resource: DescribedResource,
    { spec, joined, ...route }: ControllerRoute,
    action: ActionDescription,
    resourceOf: DescribedAction['resourceOf'],
  ): boolean {
    const [address, ...others] = resource.plan.info.address;
    const isNamed = address?.isAddress && others.length === 0 && (spec || takesId(action));
    const idName = isNamed ? address.name : 'id';
    return this.#describe({ ...route, idName }, action, (pathParameters) => {
      if (!spec) {
        const { plan, names } = resource;
        const owner = { tags: plan.tags, suffix: names.one, resource, refer: this.named.refer };
        return addedOperation(owner, route.method, route.verb, action, pathParameters);
      }
      const mounted = { resource, action, pathParameters, resourceOf };
      const { describe }: DescribedRoute = spec;
      const one = describe?.(mounted) ?? generatedOperation(spec, mounted);
      const others: readonly DescribedRoute[] = joined;
      const known = others.reduce((each, other) => other.describeJoined?.(resource, each) ?? each, one);
      return spec.single ? known : withDeclared(known, action, this.named.refer);
    });
  }

  /** Adds the route to its path. False where OpenAPI cannot express it. */
  #describe(
    { verb, path, idName = 'id' }: HandWrittenRoute & { readonly idName?: string },
    { refusedStatus, declared: { details } }: ActionDescription,
    describe: (parameters: readonly PathParameter[]) => OperationObject,
  ): boolean {
    const expressible = documentPath(path);
    const documented = DOCUMENT_METHODS.find((each) => each === verb);
    if (!expressible || !documented) return false;
    const isFree = !expressible.parameters.includes(idName);
    const template = isFree ? expressible.template.replace('{id}', `{${idName}}`) : expressible.template;
    const full = `${this.routePrefix}/${template}`.replace(/\/{2,}/, '/').replace(/(.)\/$/, '$1');
    const known = this.#paths.get(templateShape(full)) ?? { template: full, item: {} };
    this.#paths.set(templateShape(full), known);
    const requirements = details.public ? [] : refusedStatus === undefined ? null : this.requirements;
    const make = (): OperationObject => ({
      ...describe(shownParameters(expressible, known.template)),
      ...(requirements && this.requirements.length > 0 ? { security: requirements } : {}),
    });
    for (const name of details.tags ?? [])
      if (!this.#tags.has(name)) this.#tags.set(name, { name, description: `Routes of ${name}.` });
    known.item[documented] ??= this.#withOwnId(make());
    return true;
  }

  /** One method of a controller can have several routes. */
  #withOwnId(operation: OperationObject): OperationObject {
    const operationId = this.#makeOperationId(operation.operationId);
    return operationId === operation.operationId ? operation : { ...operation, operationId };
  }

  #addTag(name: string, { plan, names }: DescribedResource): void {
    if (this.#tags.has(name)) return;
    const path = `${this.routePrefix}${plan.prefix}` || '/';
    this.#tags.set(name, {
      name,
      description: plan.description ?? `Routes for ${names.phrases} at \`${path}\`.`,
    });
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
