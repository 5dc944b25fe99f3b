/** The options of the OpenAPI document and its page, checked, with every default filled in. */
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { MountedRouter } from '../express/routes/mount-resources.js';
import { isCovered } from '../express/routes/own-routes.js';
import { LOOSE, pathShape } from '../express/routes/path-matching.js';
import {
  flagProblems,
  objectProblems,
  pathProblems,
  showValue,
  unknownOptions,
  withoutSlash,
} from '../util/option-problems.js';
import type { InfoObject, SecuritySchemeObject } from './openapi-object.js';

/** Options of `docs` in `bootstrap`. */
export interface DocsOptions {
  /** Where the page is; the document, `openapi.json`, is beside it. Default: `/docs`, and so `/openapi.json`. */
  path?: string;
  /** The name of the API. Default: `API`. */
  title?: string;
  /** The version of the API. Default: `1.0.0`. */
  version?: string;
  /** Description of the API, in Markdown. Default: a sentence, and the format of problems. */
  description?: string;
  /** Contact for questions. Default: none is named. */
  contact?: NonNullable<InfoObject['contact']>;
  /** License of the API. Default: none is named. */
  license?: NonNullable<InfoObject['license']>;
  /**
   * Security schemes of clients, by name, as in OpenAPI. The page then has a field for a token and sends it. Any of
   * them may be sent with each request, and one has to be where a method has `@Authorized`. Sign-ins at another server
   * (`oauth2`) are described, and the page cannot do them. Default: none.
   *
   * @example { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
   */
  securitySchemes?: Readonly<Record<string, SecuritySchemeObject>>;
  /**
   * True: a GET answers a `CityRead` or a `CityPartial`, which has those properties that `fields` names, and the properties of included
   * records are optional. For validators of answers. Default: false, and a GET answers a whole `CityRead`: typed clients that use
   * `fields` have to declare the properties that they requested.
   */
  partial?: boolean;
}

/** Paths of the page and the document, and the title and other facts of the document. */
export interface ResolvedDocs {
  /** Path without a slash at its end. */
  readonly path: string;
  readonly documentPath: string;
  readonly info: InfoObject;
  readonly securitySchemes: NonNullable<DocsOptions['securitySchemes']>;
  /** True where the document has the answers that `fields` makes, too. */
  readonly isPartial: boolean;
}

const PROBLEMS = 'Problems are `application/problem+json`, with everything that is wrong in `errors`. ';
const DEFAULTS = Object.freeze({
  path: '/docs',
  title: 'API',
  version: '1.0.0',
  partial: false,
  description: `An HTTP API with JSON. ${PROBLEMS}HEAD answers as GET without a body, OPTIONS with 204 and \`Allow\`.`,
});
const TEXTS = ['title', 'version', 'description'] as const;
const OBJECTS = ['contact', 'license'] as const;
/** Names that a component of a document may have. */
const SCHEME_NAME = /^[\w.-]+$/;
const SCHEME_TYPES = ['http', 'apiKey', 'oauth2', 'openIdConnect'];

/**
 * The options with defaults. They are valid: see `docsProblems`.
 *
 * @param isProblemOwn true where the application makes the bodies of errors
 */
export function resolveDocsOptions(options: DocsOptions, isProblemOwn = false): ResolvedDocs {
  const { path, securitySchemes = {}, partial: isPartial, ...info } = withDefaults(options);
  if (isProblemOwn && info.description === DEFAULTS.description)
    info.description = info.description.replace(PROBLEMS, '');
  const plain = withoutSlash(path);
  const folder = plain.slice(0, Math.max(plain.lastIndexOf('/'), 0));
  return Object.freeze({
    path: plain,
    documentPath: `${folder}/openapi.json`,
    info: structuredClone(info),
    securitySchemes: structuredClone(securitySchemes),
    isPartial,
  });
}

/** Everything that is wrong with the options. */
export function docsProblems(options: DocsOptions): readonly string[] {
  const wrong = objectProblems('docs', options, "an object such as { path: '/api-docs' }, or false");
  if (wrong.length > 0) return wrong;
  const given = withDefaults(options);
  const { path } = given;
  return [
    ...unknownOptions('docs', options, ['path', ...TEXTS, ...OBJECTS, 'securitySchemes', 'partial']),
    ...pathProblems('docs.path', path, '/docs'),
    ...TEXTS.filter((name) => typeof given[name] !== 'string' || given[name] === '').map(
      (name) => `docs.${name} is ${showValue(given[name])}; use a text.`,
    ),
    ...OBJECTS.filter((name) => given[name] !== undefined && typeof given[name] !== 'object').map(
      (name) => `docs.${name} is ${showValue(given[name])}; use an object such as { name: '…' }.`,
    ),
    ...flagProblems('docs.partial', given.partial),
    ...schemeProblems(given.securitySchemes ?? {}),
  ];
}

function schemeProblems(schemes: unknown): readonly string[] {
  const example = "{ bearer: { type: 'http', scheme: 'bearer' } }";
  if (typeof schemes !== 'object' || schemes === null || Array.isArray(schemes))
    return [`docs.securitySchemes is ${showValue(schemes)}; use an object such as ${example}.`];
  return Object.entries(schemes).flatMap(([name, scheme]: [string, unknown]) => {
    const { type } = (scheme ?? {}) as { readonly type?: unknown };
    return [
      ...(SCHEME_NAME.test(name)
        ? []
        : [`docs.securitySchemes has the name '${name}'; use letters, digits, '.', '-' and '_'.`]),
      ...(SCHEME_TYPES.includes(type as string)
        ? []
        : [
            `docs.securitySchemes.${name} has the type ${showValue(type)}; use ${SCHEME_TYPES.join(', ')}, as in ${example}.`,
          ]),
    ];
  });
}

/** A resource at the path of the page or the document: it is matched first, and they would never be reached. */
export function docsConflicts(
  { path, documentPath }: ResolvedDocs,
  resources: readonly ResourcePlan[],
  routePrefix: string,
): readonly string[] {
  return resources.flatMap(({ name, prefix }) => {
    const own = `${routePrefix}${prefix}`.toLowerCase();
    const taken = [path, documentPath].find((each) => each.toLowerCase() === own);
    return taken === undefined
      ? []
      : [
          `${name} is on '${taken}', where the documentation is; give one of them another path, such as docs: { path: '/api-docs' }.`,
        ];
  });
}

/** Resources with a route that takes the path of the page or the document, as `/:id` takes `/docs` below the prefix `/`. */
export function docsHidden(
  { path, documentPath }: ResolvedDocs,
  routes: MountedRouter['routes'],
  routePrefix: string,
): readonly string[] {
  const segmentsOf = (each: string): readonly string[] => pathShape(each, LOOSE).split('/');
  return routes.flatMap(({ resource, registered }) => {
    const { name } = resource.plan;
    // A route of another method takes it, too: the answer is 405.
    for (const route of registered.routes) {
      if (typeof route.path !== 'string') continue;
      const own = `${routePrefix}${route.path}`;
      const taken = [path, documentPath].find((each) => isCovered(segmentsOf(each), segmentsOf(own)));
      if (taken === undefined) continue;
      return [
        `${name} answers '${taken}', where the documentation is, by its route '${own}'; give ${name} another prefix, or the documentation another path, such as docs: { path: '/internal/docs' }.`,
      ];
    }
    return [];
  });
}

/** An option that is undefined is one that is not set. */
function withDefaults(options: DocsOptions) {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...DEFAULTS, ...(Object.fromEntries(given) as DocsOptions) };
}
