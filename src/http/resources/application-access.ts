/** The access of a request to any model of its application, for repositories that are injected. */
import type { Request, RequestHandler } from 'express';
import type { AccessOptions } from '../../metadata/access-options.js';
import type { ModelClass } from '../../metadata/crud-options.js';
import { crudRecords } from '../../metadata/registry.js';
import type { Repository } from '../../persistence/records/repository.js';
import { compileAccess, type SharedAccess } from '../../plan/compile-access.js';
import { describeModel } from '../../plan/describe-model.js';
import { withMasks } from '../../response/record-masks.js';
import { ruledModels, type SerializerRegistry } from '../../response/result-serializer.js';
import { throwProblems } from '../../util/config-error.js';
import { compileRequestAccess, type RequestAccess } from '../request/request-access.js';
import type { Resource } from './resource.js';

const LOOKUP = Symbol('application access');

/** Finds the rules of a model; null where there are none. */
type AccessLookup = (model: ModelClass) => RequestAccess | null;

interface ApplicationRequest extends Request {
  [LOOKUP]?: AccessLookup;
}

const RULES: readonly (keyof AccessOptions)[] = ['scope', 'visible', 'fields'];

/**
 * Remembers the rules of an application for its requests; null where there are none. A model that the application does not
 * serve has those of its own `@Crud`, and the scope of `bootstrap`.
 */
export function accessOfApplication(
  resources: readonly Resource[],
  shared: SharedAccess,
): RequestHandler | null {
  const isRuled =
    resources.some(({ plan }) => plan.access !== null) ||
    Object.keys(shared.scope ?? {}).length > 0 ||
    crudRecords().some(({ options }) => RULES.some((name) => options[name] !== undefined));
  if (!isRuled) return null;
  const known = new Map<ModelClass, RequestAccess | null>(
    resources.map(({ plan, access }) => [plan.model, plan.access && access]),
  );
  const lookup: AccessLookup = (model) => {
    const found = known.get(model);
    if (found !== undefined) return found;
    const access = accessOfUnserved(model, shared);
    known.set(model, access);
    return access;
  };
  return (request: ApplicationRequest, _response, next) => {
    request[LOOKUP] = lookup;
    next();
  };
}

/** Whether the application of a request has rules of access. */
export function hasAccessRules(request: ApplicationRequest): boolean {
  return request[LOOKUP] !== undefined;
}

/**
 * Makes an answer of a request, or a part of one: records in it are without what the request may not read. What is known only
 * later is not known to be readable.
 */
export function answering<T>(request: ApplicationRequest, work: () => T): T {
  const lookup = request[LOOKUP];
  if (!lookup) return work();
  const unreadable = (model: object) => lookup(model as ModelClass)?.unreadable(request);
  const masks = (model: object) => {
    const names = unreadable(model);
    return names === undefined || names instanceof Promise ? null : names;
  };
  return withMasks(masks, work);
}

/** Waits for the rules of what an answer holds. */
export async function askForAnswer(
  request: ApplicationRequest,
  result: unknown,
  serializers: SerializerRegistry,
): Promise<void> {
  const lookup = request[LOOKUP];
  if (!lookup) return;
  for (const model of ruledModels(result, serializers))
    await lookup(model as ModelClass)?.unreadable(request);
}

/** The same repository for what a request may see and write of its model. */
export function repositoryWithin<R extends Repository>(request: ApplicationRequest, repository: R): R {
  const access = request[LOOKUP]?.(repository.model);
  return access ? repository.within(() => access(request)) : repository;
}

function accessOfUnserved(model: ModelClass, shared: SharedAccess): RequestAccess | null {
  const declared = crudRecords().findLast((record) => record.model === model)?.options ?? {};
  const options = Object.fromEntries(
    RULES.flatMap((name) => (name in declared ? [[name, declared[name]]] : [])),
  );
  const info = describeModel(model);
  const problems: string[] = [];
  const exposure = { unreadable: new Set<string>(), unwritable: new Set<string>(), undecided: new Map() };
  const check = { info, exposure, options, report: (problem: string) => void problems.push(problem) };
  const access = compileAccess(check, NO_ROUTES, { scope: shared.scope ?? {} });
  throwProblems(problems);
  return access && compileRequestAccess({ info, access });
}

const NO_ROUTES = Object.freeze({
  endpoints: new Set<never>(),
  defaultSort: [],
  explicitSchemas: { read: null, create: null, update: null },
});
