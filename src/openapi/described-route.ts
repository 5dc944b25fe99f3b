/** Generated routes with their own parts of the document, and the parts that all of them have. */

import type { IdPart } from '../compile/compile-id.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Class, ModelClass } from '../declare/crud-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { joinParts } from '../describe/id-text.js';
import { keyNames } from '../describe/row-key.js';
import type { ActionDescription, ActionParameter } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import type { ResourceFeatures } from '../operation/compile-features.js';
import type { Input } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import type { RouteSpec } from '../operation/route-spec.js';
import { classJsonSchema, loosened, VALUE_TYPES, type WriteNested } from '../schema/class-json-schema.js';
import { columnRules } from '../schema/column-rules.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { OperationObject, ParameterObject, PathParameter } from './openapi-object.js';
import { problemReferences } from './problem-responses.js';

type SchemaRole =
  | 'record'
  | 'written'
  | 'partial'
  | 'page'
  | 'create'
  | 'update'
  | 'replace'
  | 'change'
  | 'items'
  | 'results'
  | 'removals'
  | 'groups'
  | 'past';

/** Names of a resource in a document. */
export interface ResourceNames {
  /** `BlogPost` */
  readonly one: string;
  /** `BlogPosts` */
  readonly many: string;
  /** `a blog post` */
  readonly phrase: string;
  /** `blog posts` */
  readonly phrases: string;
  /** The names of its schemas. */
  readonly schemas: Readonly<Record<SchemaRole, string>>;
}

/** Resource that is described. */
export interface DescribedResource {
  readonly plan: ResourcePlan;
  readonly names: ResourceNames;
  readonly routes: readonly DescribedRoute[];
  readonly features: ResourceFeatures;
  /** True where the document has the answers that `fields` makes, too. */
  readonly isPartial: boolean;
}

/** A route, as it is mounted. */
export interface DescribedAction {
  readonly resource: DescribedResource;
  /** The decorators of its method, or of the one whose guards it has. */
  readonly action: ActionDescription;
  readonly pathParameters: readonly PathParameter[];
  resourceOf(model: ModelClass): DescribedResource;
}

/** A generated route, with parts of the document that it has not of its operation. */
export interface DescribedRoute extends RouteSpec {
  describe?(mounted: DescribedAction): OperationObject;
  /** Adds to the description of the route that it joins. */
  describeJoined?(resource: DescribedResource, one: OperationObject): OperationObject;
  /** Schemas beside those of records, by name. */
  schemas?(resource: DescribedResource): Readonly<Record<string, JsonSchema>>;
}

interface OperationParts
  extends Pick<OperationObject, 'operationId' | 'summary' | 'description' | 'requestBody'> {
  readonly parameters: readonly ParameterObject[];
  /** Answers that succeed, by status. */
  readonly answers: OperationObject['responses'];
  readonly problems: readonly ProblemStatus[];
}

/** Assembles an operation. Every one can have the problems of its server, and of its guard. */
export function operationOf(
  { plan }: DescribedResource,
  { refusedStatus }: ActionDescription,
  { parameters, requestBody, answers, problems, ...head }: OperationParts,
): OperationObject {
  const refusals = refusedStatus === undefined ? [] : [refusedStatus];
  return {
    ...head,
    tags: plan.tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...problemReferences([400, 405, 500, 503, 504, ...problems, ...refusals]),
      ...answers,
    },
  };
}

/** The parameters of a path, and those of inputs. */
export function parametersOf(
  { resource: { plan }, pathParameters }: DescribedAction,
  inputs: readonly Input[],
): ParameterObject[] {
  return [...pathParameters.map((each) => pathParameter(plan, each)), ...inputs.flatMap(inputParameter)];
}

/** A parameter, unless it accepts no value. */
export function inputParameter({ in: place, name, describe }: Input): ParameterObject[] {
  const description = describe?.();
  return description ? [{ name, in: place, required: false, ...description }] : [];
}

/** The id; a user who moved the operation to another path may have others there. */
export function pathParameter(plan: ResourcePlan, { name, shownAs }: PathParameter): ParameterObject {
  const isId = name === 'id';
  return {
    name: shownAs,
    in: 'path',
    required: true,
    ...(isId ? { description: idDescription(plan) } : {}),
    schema: isId ? idSchema(plan) : { type: 'string' },
  };
}

function idDescription({ info: { address } }: ResourcePlan): string {
  const names = address.map(({ name }) => `The ${name}`);
  if (names.length === 1) return `${names[0]}.`;
  return `${names.join(', t').replaceAll(', tThe', ', the')}, joined by commas. In a part \`~0\` is \`~\`, \`~1\` is \`/\`, \`~2\` is \`,\` and \`~3\` is \`\\\`.`;
}

/** The id as a member of answers: a text for all types of its attributes. */
export function idMemberSchema(plan: ResourcePlan): JsonSchema {
  return { description: idDescription(plan), ...idSchema(plan), type: 'string', readOnly: true };
}

/** An id beyond the range of its column is no mistake: there is no such record. */
export function idSchema({
  idKind,
  idParts,
  info,
}: Pick<ResourcePlan, 'idKind' | 'idParts' | 'info'>): JsonSchema {
  const [address, ...others] = info.address;
  if (!address || others.length > 0) return severalSchema(idParts, info);
  const { type } = address;
  switch (idKind) {
    case 'integer':
      return { type: 'integer' };
    case 'bigint':
      return { type: 'string', pattern: '^(?:0|-?[1-9][0-9]*)$' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'enum':
      return { type: 'string', enum: type.kind === 'enum' ? type.values : [] };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        ...(type.kind === 'string' && type.maxLength !== null ? { maxLength: type.maxLength } : {}),
      };
    case 'value':
      return type.kind === 'boolean'
        ? { type: 'boolean' }
        : { type: 'string', minLength: 1, examples: [exampleOf(type)] };
    default:
      return { type: 'string', minLength: 1 };
  }
}

function exampleOf(type: ColumnType): string {
  return String(exampleValue(Object.assign({}, ...columnRules(type).map(({ schema }) => schema))) ?? 'text');
}

/** Texts of parts, escaped. */
const PART_PATTERNS: Readonly<Record<string, string>> = {
  integer: '(?:0|-?[1-9][0-9]*)',
  bigint: '(?:0|-?[1-9][0-9]*)',
  uuid: '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
};
const ANY_PART = '(?:[^,/~\\\\]|~[0-3])*';

function severalSchema(parts: readonly IdPart[], { address }: ResourcePlan['info']): JsonSchema {
  const examples = parts.map(({ attribute: { type }, kind }, index) => {
    if (kind === 'integer' || kind === 'bigint') return index === 0 ? '10248' : '11';
    return exampleOf(type);
  });
  return {
    type: 'string',
    pattern: `^${parts.map(({ kind }) => PART_PATTERNS[kind] ?? ANY_PART).join(',')}$`,
    examples: [joinParts(examples)],
    'x-key': keyNames(address),
  };
}

/** Parameters of a method that are not described otherwise. A generated reader of the same one is stricter. */
export function ownParameters(
  declared: readonly ActionParameter[],
  described: readonly ParameterObject[],
): ParameterObject[] {
  const isDescribed = (own: ParameterObject): boolean =>
    described.some(({ name, in: place }) => name === own.name && place === own.in);
  return declared.flatMap(requestParameters).filter((own) => !isDescribed(own));
}

function requestParameters(parameter: ActionParameter): ParameterObject[] {
  const { source, name, isRequired, type } = parameter;
  switch (source) {
    case 'query':
    case 'header':
    case 'cookie':
      return [{ name, in: source, required: isRequired, schema: parameterSchema(parameter) }];
    case 'queries':
      return isOwnClass(type) ? queryClass(type, parameter) : [];
    default:
      return [];
  }
}

function queryClass(type: Class, { leniency }: ActionParameter): ParameterObject[] {
  const schema = classJsonSchema(type);
  const { properties = {}, required = [] } = loosened(schema, leniency);
  return Object.keys(schema.properties ?? {}).map((name) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: properties[name] ?? {},
  }));
}

/** A moment that a client sends: a date is one, too. */
const MOMENT: JsonSchema = { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] };

/** Schema of a type that TypeScript emitted; any value where it emitted none. @param writeNested default: within the schema */
export function typeSchema(type: Class | undefined, writeNested?: WriteNested): JsonSchema {
  const known = (type as unknown) === Date ? MOMENT : VALUE_TYPES.get(type);
  if (known || !isOwnClass(type)) return known ?? {};
  return writeNested ? writeNested(type, 'write') : classJsonSchema(type);
}

/** Content of a file. */
export const BYTES: JsonSchema = { type: 'string', format: 'binary' };

/** A parameter that may be repeated is a list in OpenAPI, too. */
export function parameterSchema(parameter: ActionParameter, writeNested?: WriteNested): JsonSchema {
  const { source, type, isArray, leniency } = parameter;
  const isOfBody = source === 'body' || source === 'body-param';
  // Numbers and the like are checked in any case.
  if (isOfBody && leniency.isUnchecked && !VALUE_TYPES.has(type)) return {};
  const isFile = source === 'file' || source === 'files';
  const isLenient = Object.values(leniency).includes(true);
  const schema = isFile
    ? BYTES
    : isLenient && isOwnClass(type)
      ? loosened(classJsonSchema(type), leniency)
      : typeSchema(type, writeNested);
  return isArray ? { type: 'array', items: schema } : schema;
}

/** A class of the user's that declares properties, unlike `Object`, `Array` and `Date`. */
function isOwnClass(type: Class | undefined): type is Class {
  return typeof type === 'function' && Object.keys(classJsonSchema(type).properties ?? {}).length > 0;
}
