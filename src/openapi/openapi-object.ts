/** The part of OpenAPI 3.1 that is written here, as types, and paths of Express in its form. https://spec.openapis.org/oas/v3.1.0 */
import type { HeaderDescription, InputDescription } from '../operation/feature.js';
import type { JsonSchema } from '../schema/json-schema.js';

/** A pointer to a component. */
export interface Reference {
  readonly $ref: string;
}

/** Body in one media type. */
export interface MediaTypeObject {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

/** An answer. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

/** A parameter. */
export interface ParameterObject
  extends Partial<Pick<InputDescription, 'description' | 'style' | 'explode'>> {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** A body. */
export interface RequestBodyObject {
  readonly required: boolean;
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}

/** One method of a path. */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: RequestBodyObject;
  readonly security?: readonly SecurityRequirement[];
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

/** The methods that a document can describe. */
export const DOCUMENT_METHODS = [
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
] as const;

/** Method of an operation in a document. */
export type DocumentMethod = (typeof DOCUMENT_METHODS)[number];

/** The methods of a path. */
export type PathItemObject = Readonly<Partial<Record<DocumentMethod, OperationObject>>>;

/** Facts of the API at the head of a document. */
export interface InfoObject {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

/** Scheme by which a client authenticates. https://spec.openapis.org/oas/v3.1.0#security-scheme-object */
export type SecuritySchemeObject = { readonly description?: string } & (
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: 'apiKey'; readonly name: string; readonly in: 'header' | 'query' | 'cookie' }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string }
  | { readonly type: 'oauth2'; readonly flows: Readonly<Record<string, object>> }
);

/** Alternative among the requirements; all names in it are needed together. An empty one needs nothing. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** A group of operations. */
export interface TagObject {
  readonly name: string;
  readonly description: string;
}

/**
 * An OpenAPI 3.1 document. Frozen.
 *
 * @example
 * ```ts
 * const { openapi } = await bootstrap(app);
 * await writeFile('openapi.json', JSON.stringify(openapi(), null, 2));
 * ```
 */
export interface OpenAPIObject {
  readonly openapi: '3.1.0';
  readonly info: InfoObject;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly SecurityRequirement[];
  readonly tags: readonly TagObject[];
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes?: Readonly<Record<string, SecuritySchemeObject>>;
  };
}

/** A pointer to a schema of the document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** A JSON body or answer of this schema. */
export function jsonContent(schema: JsonSchema, example?: unknown): Record<string, MediaTypeObject> {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

/** A path, and the names of its parameters in their order. */
interface DocumentPath {
  /** `/cities/{id}` */
  readonly template: string;
  readonly parameters: readonly string[];
}

/** A parameter of a path. */
export interface PathParameter {
  /** Name in the route. */
  readonly name: string;
  /** Name in the document, where another route has named the same place. */
  readonly shownAs: string;
}

const PARAMETER = /:([A-Za-z_]\w*)(?:\([^()/]*\))?/g;
/** Characters that OpenAPI cannot express: optional parts, wildcards, and the rest of a regular expression. */
const INEXPRESSIBLE = /[*+?(){}[\]\\:]/;

/** The path, or undefined for one that OpenAPI cannot say, such as a regular expression. */
export function documentPath(path: string | RegExp): DocumentPath | undefined {
  if (typeof path !== 'string') return undefined;
  if (INEXPRESSIBLE.test(path.replace(PARAMETER, ''))) return undefined;
  return {
    template: path.replace(PARAMETER, '{$1}').replace(/(.)\/$/, '$1'),
    parameters: [...path.matchAll(PARAMETER)].map(([, name = '']) => name),
  };
}

/** The path without the names of its parameters: a document has each only once. */
export function templateShape(template: string): string {
  return template.replace(/\{[^}]*\}/g, '{}');
}

/** The parameters of a path that the document writes as `template`. */
export function shownParameters({ parameters }: DocumentPath, template: string): readonly PathParameter[] {
  const shown = [...template.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
  return parameters.map((name, index) => ({ name, shownAs: shown[index] ?? name }));
}
