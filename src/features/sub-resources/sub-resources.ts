/** Sub-resources: the list of another resource, under each record of this one. */
import { hasRestrictedKey, type SubresourcePlan } from '../../compile/resource-plan.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { compileAround, compileCompletions, type MemberBelow, membersBelow } from '../../handle/around.js';
import { readSessions } from '../../handle/commit-request.js';
import { decideRows, type RouteDecisions } from '../../handle/decide-route.js';
import { compileOperationHandler } from '../../handle/handle.js';
import type { HandledRoute, HandlerContext, RouteContext } from '../../handle/handled-route.js';
import type { Completion } from '../../handle/outcome.js';
import { compileShape } from '../../handle/shape-answer.js';
import {
  type DescribedAction,
  type DescribedResource,
  type DescribedRoute,
  operationOf,
  parametersOf,
} from '../../openapi/described-route.js';
import { success } from '../../openapi/generated-operation.js';
import type { OperationObject, ResponseObject } from '../../openapi/openapi-object.js';
import { pascalCase, toWords } from '../../openapi/resource-schemas.js';
import type { FeatureFactory } from '../../operation/feature.js';
import type { ProblemStatus } from '../../operation/refused-request-error.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import { then } from '../../util/promises.js';
import { isRuled } from '../scope.js';
import { compileSubresourceParser } from './parse-subresource.js';
import { compileSubresourceMethod, compileSubresourceRows, type Subresource } from './run-subresource.js';

/** A route for each relation that `subresources` names. */
export const subResources: FeatureFactory = Object.assign(() => null, {
  routes: ({ relations }: RoutePlan) => [...relations.subresources.values()].map(routeOf),
});

function routeOf(plan: SubresourcePlan): HandledRoute & DescribedRoute {
  const atWork = (context: RouteContext) => subresourceOf(plan, context);
  return {
    ...USUAL.list,
    method: plan.method,
    path: plan.path,
    parameters: [],
    executes: [{ operation: 'read' }, { plan: plan.target, operation: 'list' }],
    mend: (name) => `leave it out of the subresources of ${name}`,
    decide: (context) => decideSubresource(atWork(context), context),
    compile: (context) => compileHandler(atWork(context), context),
    describe: (mounted) => describe(plan, mounted),
  };
}

/** A sub-resource at work, of the resource that a route is of. */
export function subresourceOf(plan: SubresourcePlan, { resource, resourceOf }: RouteContext): Subresource {
  return { plan, parent: resource, target: resourceOf(plan.relation.target) };
}

/** True where the parent can be read without its repository. */
function isReadByKey({ repository, plan }: Resource): boolean {
  return isPlainRepository(repository) && plan.idKind !== 'custom';
}

/** The decisions of the target's list, but that our SQL has to read the parent as well, and no method of the user's is called. */
export function decideSubresource(
  { plan, parent, target }: Subresource,
  context: RouteContext,
): RouteDecisions {
  const reasonsOf = ({ plan: { name, info } }: Resource, endpoint: 'list' | 'read', isOfRecords: boolean) =>
    modelFastPathBlockers(info, endpoint, isOfRecords).map((reason) => `${name}: ${reason}`);
  const decisions = decideRows(target, { ...USUAL.list, method: plan.method }, context, () => [
    ...reasonsOf(parent, 'read', !isReadByKey(parent)),
    ...reasonsOf(target, 'list', target.rowView.isOfRecords),
  ]);
  return isReadByKey(parent) ? decisions : Object.freeze({ ...decisions, runner: 'records' });
}

/** The handler of the target's list, within the rows of one parent. */
function compileHandler(
  subresource: Subresource,
  { decisions, settings, shaper }: HandlerContext,
): ActionRunner {
  const { plan, parent, target } = subresource;
  const members = membersBelow(parent, plan.relation.name);
  const parse = reading(
    members.map(({ attribute }) => attribute),
    compileSubresourceParser(parent, target, plan),
  );
  const own = members.map(
    (each): Completion => ({ input: 'also', isOpen: () => true, complete: each.compile(parent) }),
  );
  const shape = compileShape(target, USUAL.list, decisions.shapedBy);
  const work = {
    resource: parent,
    verb: USUAL.list.verb,
    parse,
    parseOnce: parse,
    rows: decisions.runner === 'rows' ? compileSubresourceRows(subresource) : null,
    runMethod: compileSubresourceMethod(subresource, shaper),
    completions: [...compileCompletions(target, 'list'), ...own],
    shape,
    around: compileAround(target, USUAL.list, { shape, shapedBy: decisions.shapedBy, shaper }),
    sessions: readSessions([parent, target], settings),
  };
  return compileOperationHandler(work, decisions, shaper);
}

/** Has a list read attributes beside those of answers. */
function reading(also: readonly string[], parse: ReturnType<typeof compileSubresourceParser>): typeof parse {
  if (also.length === 0) return parse;
  return (request) =>
    then(parse(request), (input) => ({ ...input, query: Object.freeze({ ...input.query, also }) }));
}

/** Describes the list of the target, under a record of the parent. */
function describe(plan: SubresourcePlan, mounted: DescribedAction): OperationObject {
  const { resource, action, resourceOf } = mounted;
  const { names } = resource;
  const { name, target } = plan.relation;
  const listed = resourceOf(target);
  const { inputs, problems } = listed.features.list;
  return operationOf(resource, action, {
    operationId: `list${names.one}${pascalCase(name)}`,
    summary: `List ${toWords(name)} of ${names.phrase}`,
    description: USUAL.list.words.description(listed.plan),
    parameters: parametersOf(mounted, inputs),
    answers: { 200: withMembers(success(listed, USUAL.list), membersBelow(resource, name)) },
    problems: [...parentProblems(plan, resource), ...problems],
  });
}

function withMembers(
  { content, ...others }: ResponseObject,
  members: readonly MemberBelow[],
): ResponseObject {
  const { schema, ...page } = content?.['application/json'] ?? {};
  if (members.length === 0 || !schema) return { ...others, ...(content ? { content } : {}) };
  const properties = Object.fromEntries(members.map((each) => [each.name, each.schema]));
  const items: JsonSchema = {
    type: 'array',
    items: objectOf(properties),
  };
  const allOf: readonly JsonSchema[] = [schema, { type: 'object', properties: { items } }];
  return { ...others, content: { ...content, 'application/json': { ...page, schema: { allOf } } } };
}

/** Problems of a request below a record: those of its read, and of the access to the relation. */
export function parentProblems(
  plan: SubresourcePlan,
  { plan: parent, features }: DescribedResource,
): readonly ProblemStatus[] {
  const isRefused = isRuled(plan) || hasRestrictedKey(plan, parent.access);
  return [404, ...features.read.problems, ...(isRefused ? ([403] as const) : [])];
}
