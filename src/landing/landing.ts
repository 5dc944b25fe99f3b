/** The OpenAPI document of an application -> the content of its landing page. Pure, so it can show nothing that is not mounted. */
import { type HealthOptions, resolveHealthOptions } from '../health/health-options.js';
import type { ResolvedDocs } from '../openapi/docs-options.js';
import type { OpenAPIObject, OperationObject } from '../openapi/openapi-object.js';

/** Content of the landing page. */
export interface Landing {
  readonly title: string;
  readonly version: string;
  /** In Markdown, as all descriptions are. */
  readonly description: string;
  readonly links: LandingLinks;
  readonly resources: readonly LandingResource[];
}

/** Paths of what belongs to the API and is no resource; those that are mounted. */
export interface LandingLinks {
  /** The page of the documentation. */
  readonly docs?: string;
  readonly openapi?: string;
  readonly ready?: string;
  readonly live?: string;
}

/** A resource, or what else has a tag of its own. */
export interface LandingResource {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly LandingOperation[];
}

/** One method of a path. */
export interface LandingOperation {
  readonly method: string;
  /** As in the document: `/cities/{id}`. */
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

/** Describes an application; each operation is told once, where its first tag is. */
export function describeLanding({ info, tags, paths }: OpenAPIObject, links: LandingLinks): Landing {
  const linked = new Set<string>(Object.values(links));
  const operations = Object.entries(paths)
    .filter(([path]) => !linked.has(path))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => describeOperation(method, path, operation)),
    );
  const resources = tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ tag }) => tag === name).map(({ operation }) => operation),
  }));
  const { title, version, description } = info;
  return {
    title,
    version,
    description,
    links,
    resources: resources.filter((each) => each.operations.length > 0),
  };
}

function describeOperation(method: string, path: string, { tags, summary, operationId }: OperationObject) {
  return { tag: tags[0], operation: { method: method.toUpperCase(), path, summary, operationId } };
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
