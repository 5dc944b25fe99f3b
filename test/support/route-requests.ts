/** Requests of a route, found from the document: each parameter and body, with values of the tenant's own rows and of others'. */
import type { WholeRequest } from './two-paths.js';

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** An operation, as the document has it. */
export interface DescribedOperation {
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
}

/** Values that requests are made of. */
export interface Samples {
  /** A row that the request sees, and one that it does not. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly foreign: Readonly<Record<string, unknown>>;
  /** Ids of rows: its own, others', soft-deleted ones, none. */
  readonly ids: readonly string[];
  readonly cursors: readonly string[];
  readonly tags: readonly string[];
  /** Values of a body that no row has. */
  readonly fresh: Readonly<Record<string, unknown>>;
}

/** A route, with its operation in the document. */
export interface DescribedRoute {
  readonly method: string;
  /** With `:id`. */
  readonly path: string;
  readonly operation: DescribedOperation;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** All requests of a route that this can make; each differs from the others in its meaning. */
export function requestsOf(route: DescribedRoute, samples: Samples): WholeRequest[] {
  const { method, operation } = route;
  const parameters = operation.parameters ?? [];
  const [first = route.path] = pathsOf(route, [String(samples.own['id'])]);
  const paths = pathsOf(route, samples.ids);
  const both = pathsOf(route, [String(samples.own['id']), String(samples.foreign['id'])]);
  const relations = relationsOf(parameters);
  const queries = parameters
    .filter((each) => each.in === 'query')
    .flatMap((each) =>
      valuesOf(each, samples).map(
        (value) =>
          `${includeFor(each, relations)}${filterFor(each, parameters)}${each.name}=${encodeURIComponent(value)}`,
      ),
    );
  const headers = parameters
    .filter((each) => each.in === 'header')
    .flatMap((each) => valuesOf(each, samples).map((value) => ({ [each.name]: value })));
  const bodies = bodiesOf(route, samples);
  const [body] = bodies;
  const given = body === undefined ? {} : { body };
  // A query about many records is sent with many of them, unless a filter finds them.
  const many = bodies.find((each) => Array.isArray(each));
  const one = bodies.find((each) => !Array.isArray(each));
  const bodyFor = (query: string) => {
    const isOfMany = /(?:^|&)(?:atomic|dry_run)=/.test(query) && !/(?:^|&)q=/.test(query);
    const fitting = isOfMany ? (many ?? one) : (one ?? many);
    return fitting === undefined ? {} : { body: fitting };
  };
  const requests: WholeRequest[] = [
    ...paths.map((path) => ({ method, path, ...given })),
    ...queries.map((query) => ({ method, path: `${first}?${query}`, ...bodyFor(query) })),
    ...(parameters.some(({ name }) => name === 'deleted')
      ? paths.flatMap((path) => ['only', 'with'].map((word) => ({ method, path: `${path}?deleted=${word}` })))
      : []),
    ...both.flatMap((path) => headers.map((each) => ({ method, path, headers: each, ...given }))),
    ...bodies.slice(1).map((each) => ({ method, path: first, body: each })),
  ];
  if (isOfFile(operation)) {
    const changes: WholeRequest[] = bodies.map((each) => ({
      method,
      path: `${first}?mode=update`,
      body: each,
    }));
    const type = { 'Content-Type': LINES };
    return [...requests, ...changes].map((each) => ({ ...each, headers: { ...each.headers, ...type } }));
  }
  if (method !== 'GET') return requests;
  const conditions = samples.tags.map((tag) => ({ 'If-None-Match': tag }));
  return [
    ...requests,
    ...both.map((path) => ({ method: 'HEAD', path })),
    ...both.flatMap((path) => conditions.map((each) => ({ method, path, headers: each }))),
  ];
}

/** Lists to walk through from their first page to the last, and back. */
export function walksOf({ path, operation }: DescribedRoute, samples: Samples): string[] {
  const byName = new Map((operation.parameters ?? []).map((each) => [each.name, each]));
  const values = (name: string) => {
    const parameter = byName.get(name);
    return parameter
      ? ['', ...valuesOf(parameter, samples).map((each) => `&${name}=${encodeURIComponent(each)}`)]
      : [''];
  };
  const sorts = values('sort');
  const filters = values('q').filter((each) => each.includes(encodeURIComponent(',')));
  const relations = relationsOf([...byName.values()]);
  const included = relations.length > 0 ? [`&include=${relations}`] : [];
  return [...sorts, ...filters, ...included, ...values('deleted').slice(1, 3)].map(
    (rest) => `${path}?size=4${rest}`,
  );
}

function pathsOf({ path }: DescribedRoute, ids: readonly string[]): string[] {
  if (!path.includes(':')) return [path];
  const some = ids.map((id) => path.replace(/:\w+/, encodeURIComponent(id)));
  return some.flatMap((each) =>
    each.includes(':') ? pathsOf({ path: each } as DescribedRoute, ids) : [each],
  );
}

/** The relations that a route can include. */
function relationsOf(parameters: readonly DescribedParameter[]): readonly string[] {
  const include = parameters.find(({ name }) => name === 'include');
  return (include?.schema.items?.enum ?? []).map(String);
}

/** A parameter of a relation needs the relation: the one that is named up to its last dot. */
function includeFor({ name }: DescribedParameter, relations: readonly string[]): string {
  const path = name.slice(0, name.lastIndexOf('.'));
  return relations.includes(path) ? `include=${path}&` : '';
}

/** A write of what a filter finds has one. */
function filterFor({ name }: DescribedParameter, all: readonly DescribedParameter[]): string {
  const isNeeded = all.some((each) => each.name === 'q' && each.required);
  return name !== 'q' && (isNeeded || name === 'max_affected') ? 'q=points=ge=-9&' : '';
}

/** Filters by related rows, as far as the description of `q` names them: by all values, and by those that only others have. */
function relationFilters(description = ''): string[] {
  const ones = [...description.matchAll(/^\| `(\w+)\.(\w+)` \| string/gm)].flatMap(([, relation, name]) => [
    `${relation}.${name}=like=*of*`,
    `${relation}.${name}=like=*there*`,
    `${relation}.${name}!=x`,
    `${relation}=isnull=true`,
    `${relation}=isnull=false`,
  ]);
  const many = [...description.matchAll(/^\| `(\w+)` in `(\w+)=any=\(…\)` \| string/gm)].flatMap(
    ([, name, relation]) => [
      `${relation}=any=(${name}=like=*)`,
      `${relation}=any=(${name}=like=*~*)`,
      `${relation}=none=(${name}==red)`,
      `${relation}=isempty=true`,
      `${relation}=isempty=false`,
    ],
  );
  return [...ones, ...many];
}

/** @throws for an unknown parameter: a new one needs values that could reveal rows of others */
function valuesOf({ name, description, schema }: DescribedParameter, samples: Samples): string[] {
  const isOfRelation = name.includes('.');
  if (name === 'q' || name.endsWith('.q')) return [...filtersOf(samples), ...relationFilters(description)];
  if (name === 'after' || name === 'before') return ['x', ...samples.cursors];
  if (/^If-/i.test(name)) return ['*', ...samples.tags];
  if (name === 'Idempotency-Key') return ['a', '"b"'];
  if (name === 'Prefer') return ['return=minimal', 'return=representation'];
  const choices = schema.items?.enum ?? schema.enum;
  if (choices) {
    const some = name === 'fields' || isOfRelation ? choices.slice(0, 3) : choices;
    return [...some.map(String), choices.slice(0, 2).join(','), 'nothing'];
  }
  if (schema.type === 'boolean') return ['true', 'false', 'x'];
  if (schema.type === 'integer') return ['1', '2', '3', '99', '0', 'x'];
  throw new Error(`No values are known for the parameter ${name}; add some that could tell of others' rows.`);
}

function filtersOf({ own, foreign }: Samples): string[] {
  return Object.keys(own).flatMap((name) => {
    const [ours, theirs] = [own[name], foreign[name]].map((value) => JSON.stringify(String(value)));
    return [`${name}==${theirs}`, `${name}==${ours},${name}==${theirs}`];
  });
}

const LINES = 'application/x-ndjson';

/** True for a route that takes a file: a record as JSON is one of its lines. */
function isOfFile({ requestBody }: DescribedOperation): boolean {
  return requestBody?.content[LINES] !== undefined && requestBody.content['application/json'] === undefined;
}

/** The first one is right, where there are any. */
function bodiesOf({ operation, schemas }: DescribedRoute, samples: Samples): unknown[] {
  const content = operation.requestBody?.content['application/json'];
  if (isOfFile(operation)) {
    const record = Object.entries(schemas).find(
      ([name, { properties = {} }]) =>
        name.endsWith('Create') && Object.keys(samples.fresh).every((each) => each in properties),
    );
    return record ? recordsOf(record[1], samples) : [];
  }
  if (!content) return [];
  return (content.schema.oneOf ?? [content.schema]).flatMap((schema) => {
    if (!schema.items) return recordsOf(resolve(schema, schemas), samples);
    // A faulty record is also sent alone.
    const [right, ...others] = recordsOf(resolve(schema.items, schemas), samples);
    const foreign = others.filter((_, index) => index % 2 === 1);
    return [[right], ...foreign.map((each) => [each]), ...foreign.slice(0, 3).map((each) => [right, each])];
  });
}

function recordsOf(schema: JsonSchema, { own, foreign, fresh }: Samples): unknown[] {
  const { properties = {}, required = [] } = schema;
  const base = Object.fromEntries(required.map((name) => [name, fresh[name] ?? own[name]]));
  const right = {
    ...base,
    ...Object.fromEntries(Object.entries(fresh).filter(([name]) => name in properties)),
  };
  const names = [...new Set([...Object.keys(properties), ...Object.keys(own)])];
  const changes = names.flatMap((name) =>
    [own[name], foreign[name]].map((value) => ({ ...right, [name]: value })),
  );
  const whole = { ...own, ...foreign };
  const [twice, theirs] = [own, foreign].map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name in properties)),
  );
  return [right, ...changes, whole, twice, theirs, { ...right, code: { wrong: true } }, {}, 'text'];
}

function resolve(schema: JsonSchema, schemas: DescribedRoute['schemas']): JsonSchema {
  return schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
}
