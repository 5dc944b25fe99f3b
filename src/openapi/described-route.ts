/** Generated routes with their own parts of the document, and the parts that all of them have. */
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import type { ActionDescription } from '../express/routes/describe-action.js';
import type { ResourceFeatures } from '../operation/compile-features.js';
import type { Input } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { PathParameter } from './document-path.js';
import { idSchema } from './id-schema.js';
import type { OperationObject, ParameterObject } from './openapi-object.js';
import { problemReferences } from './problem-responses.js';
import type { ResourceNames } from './resource-names.js';

/** Resource that is described. */
export interface DescribedResource {
  readonly plan: ResourcePlan;
  readonly names: ResourceNames;
  readonly routes: readonly DescribedRoute[];
  readonly features: ResourceFeatures;
}

/** A route, as it is mounted. */
export interface DescribedAction {
  readonly resource: DescribedResource;
  /** The decorators of its method, or of the one whose guards it has. */
  readonly action: ActionDescription;
  readonly pathParameters: readonly PathParameter[];
  /** Finds another resource of the application. */
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

/** Own parts of an operation. */
export interface OperationParts
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
  const statuses = new Set<ProblemStatus>([
    ...([400, 405, 500, 503, 504] as const),
    ...problems,
    ...(refusedStatus === undefined ? [] : [refusedStatus]),
  ]);
  return {
    ...head,
    tags: plan.tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...answers,
      ...problemReferences([...statuses].sort((first, second) => first - second)),
    },
  };
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
    ...(isId ? { description: `The ${plan.info.primaryKey.name}.` } : {}),
    schema: isId ? idSchema(plan) : { type: 'string' },
  };
}
