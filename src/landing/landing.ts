/** The OpenAPI document of an application -> the content of its landing page. Pure, so it can show nothing that is not mounted. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import { isOfKey } from '../describe/row-key.js';
import { filterExamples, filterNames } from '../features/filter-guide.js';
import { type HealthOptions, resolveHealthOptions } from '../health/health-options.js';
import type { ResolvedDocs } from '../openapi/docs-options.js';
import { documentPath, type OpenAPIObject, type OperationObject } from '../openapi/openapi-object.js';

/** Content of the landing page. */
export interface Landing {
  readonly title: string;
  readonly version: string;
  /** Description in Markdown, like all descriptions. */
  readonly description: string;
  readonly links: LandingLinks;
  /** Ways in which clients say who they are, as in the document; left out where there are none. */
  readonly securitySchemes?: NonNullable<OpenAPIObject['components']['securitySchemes']>;
  readonly resources: readonly LandingResource[];
}

/** Mounted paths that belong to the API and are no resource. */
export interface LandingLinks {
  /** The page of the documentation. */
  readonly docs?: string;
  readonly openapi?: string;
  readonly ready?: string;
  readonly live?: string;
}

/** A resource, or another group of operations with a tag of its own. */
export interface LandingResource {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly LandingOperation[];
}

/** One method of a path. */
export interface LandingOperation extends Partial<ListHints> {
  readonly method: string;
  /** Path as in the document: `/cities/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly operationId: string;
}

/** The links of an application with these options. */
export function landingLinks(docs: ResolvedDocs | false, health: HealthOptions | false): LandingLinks {
  const { prefix, includeLiveness } = resolveHealthOptions(health || {});
  return {
    ...(docs ? { docs: docs.path || '/', openapi: docs.documentPath } : {}),
    ...(health ? { ready: `${prefix}/ready` } : {}),
    ...(health && includeLiveness ? { live: `${prefix}/live` } : {}),
  };
}

/** Names and examples of the list of a resource. */
export interface ListHints {
  /** Names that `q` compares. */
  readonly filterable: readonly string[];
  /** Names that `sort` takes. */
  readonly sortable: readonly string[];
  /** Parameters of a request that works. */
  readonly examples: { readonly sort?: string; readonly q?: string };
}

/** The lists of resources, by their paths in the document. */
export function listHints(
  plans: readonly ResourcePlan[],
  routePrefix: string,
): ReadonlyMap<string, ListHints> {
  return new Map(
    plans.map((plan) => [
      documentPath(`${routePrefix}${plan.prefix}`)?.template ?? plan.prefix,
      hintsOf(plan),
    ]),
  );
}

/** The key is named where there is nothing else. */
function hintsOf(plan: ResourcePlan): ListHints {
  const { sortable, info } = plan;
  const ofKey = (text: string) => info.primaryKey.some(({ name }) => text.startsWith(name));
  const filters = filterExamples(plan);
  const sort = sortable.find((name) => !isOfKey(info.primaryKey, name)) ?? sortable[0];
  const q = filters.find((example) => !ofKey(example)) ?? filters[0];
  return {
    filterable: filterNames(plan),
    sortable,
    examples: { ...(sort === undefined ? {} : { sort: `-${sort}` }), ...(q === undefined ? {} : { q }) },
  };
}

/** Describes an application; each operation is listed once, under its first tag. */
export function describeLanding(
  { info, tags, paths, components }: OpenAPIObject,
  links: LandingLinks,
  hints: ReturnType<typeof listHints>,
): Landing {
  const linked = new Set<string>(Object.values(links));
  const operations = Object.entries(paths)
    .filter(([path]) => !linked.has(path))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        tag: operation.tags[0],
        operation: describeOperation(method, path, operation, hints.get(path)),
      })),
    );
  const resources = tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ tag }) => tag === name).map(({ operation }) => operation),
  }));
  const { title, version, description } = info;
  const { securitySchemes } = components;
  return {
    title,
    version,
    description,
    links,
    ...(securitySchemes ? { securitySchemes } : {}),
    resources: resources.filter((each) => each.operations.length > 0),
  };
}

function describeOperation(
  method: string,
  path: string,
  { summary, operationId, parameters = [] }: OperationObject,
  hints: ListHints | undefined,
): LandingOperation {
  const isList = method === 'get' && parameters.some(({ name }) => name === 'size');
  return { method: method.toUpperCase(), path, summary, operationId, ...(isList ? hints : {}) };
}

/** The resources in which a text is found: in their names, descriptions or paths. An empty text is in all of them. */
export function findResources({ resources, ...landing }: Landing, text: string): Landing {
  const wanted = text.trim().toLowerCase();
  const found = resources.filter(({ name, description, operations }) =>
    [name, description, ...operations.map(({ path }) => path)].join('\n').toLowerCase().includes(wanted),
  );
  return { ...landing, resources: found };
}

/** The same with each path behind another one: that of the application where it is mounted. */
export function landingBelow(base: string, landing: Landing): Landing {
  const links = Object.entries(landing.links).map(([name, path]) => [name, `${base}${path}`]);
  const resources = landing.resources.map((resource) => ({
    ...resource,
    operations: resource.operations.map((each) => ({ ...each, path: `${base}${each.path}` })),
  }));
  return { ...landing, links: Object.fromEntries(links), resources };
}
