/** Reads parameters of the user's methods from their resource: the id, the record and the list query of a request. */

import type { Action } from 'routing-controllers';
import { compileId } from '../compile/compile-id.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { uniqueFields } from '../describe/foreign-keys.js';
import { idOf, keyText } from '../describe/row-key.js';
import { noSuchRecord } from '../errors/errors.js';
import type { Repository } from '../execute/records/repository.js';
import type { Id } from '../execute/records/repository-operations.js';
import type { Resource } from '../express/resources/resource.js';
import {
  ownQueryParameters,
  type ResourceParameter,
  recordKeys,
  resourceParameters,
} from '../express/resources/resource-parameters.js';
import { routeNamed, USUAL } from '../operation/route-spec.js';
import { compileWantedParser, parseOnce, type RequestParser } from '../request/parse-request.js';
import { parsePathId } from '../request/read-id.js';
import { requestSessions, SAFE_METHODS } from '../request/request-sessions.js';
import { parseIdText } from '../schema/wire-value.js';
import { ConfigError } from '../util/config-error.js';
import { didYouMean } from '../util/option-problems.js';
import { operationSessions } from './commit-request.js';
import type { PathSettings } from './decide-route.js';
import { contextOf } from './run-method.js';

/** Arguments that a method takes of its resource. */
export interface ResourceArguments {
  readonly parameters: ReadonlySet<ResourceParameter>;
  /** Reads its part of the request, once for each. */
  readonly parse: RequestParser;
  /** Returns the value of a parameter. @param key the attribute that a record is found by, where it is not that of the resource */
  read(parameter: ResourceParameter, action: Action, key?: string): Promise<unknown>;
}

/** Compiles the arguments that a method takes of its resource; undefined where there are none. */
export function compileArguments(
  resource: Resource,
  lineage: readonly object[],
  method: string,
  settings: PathSettings,
): ResourceArguments | undefined {
  const parameters = resourceParameters(lineage, method);
  if (parameters.size === 0) return undefined;
  const parse = parseOnce(
    compileWantedParser(resource, {
      operation: routeNamed(resource.routes, method)?.operation,
      hasId: parameters.has('id') || parameters.has('record'),
      hasList: parameters.has('listQuery'),
      others: ownQueryParameters(lineage, method),
    }),
  );
  const findRecord = recordFinder(resource, settings);
  const finders = new Map(
    recordKeys(lineage, method).map((key) => [key, keyedFinder(resource, key, findRecord)]),
  );
  return {
    parameters,
    parse,
    async read(parameter, action, key) {
      const { id, query } = await parse(action.request);
      if (key !== undefined) return finders.get(key)?.(action);
      if (parameter === 'context') return contextOf(resource, action);
      if (parameter === 'record') return findRecord(id as Id, action);
      return parameter === 'id' ? id : query;
    },
  };
}

/**
 * Finds a record as the generated read does. Where the request may write it is locked, in the transaction that the method's
 * writes are part of. A session of another parameter has begun by then.
 */
function recordFinder(resource: Resource, settings: PathSettings): FindRecord {
  const reading = operationSessions(resource, USUAL.read, settings).session;
  const writing = operationSessions(resource, USUAL.update, settings).transaction;
  const { plan } = resource;
  return async (id, action, key) => {
    const { request, response } = action;
    const { repository } = contextOf(resource, action);
    const sessions = requestSessions(request, response);
    const find = () => (key === undefined ? repository.get(id) : oneBy(repository, key, id));
    if (!SAFE_METHODS.has(request.method))
      return writing(sessions, async () => {
        if (key === undefined) return repository.getLocked(id);
        const found = (await find()) as RecordValues;
        const record: object = await repository.getLocked(
          idOf(repository.idParts, (name) => found[name]) as Id,
        );
        // Checked, because another request may have changed the key before the lock.
        if (String((record as RecordValues)[key]) === String(found[key])) return record;
        throw noSuchRecord({ name: plan.name, key });
      });
    return reading(sessions, find);
  };
}

type RecordValues = Readonly<Record<string, unknown>>;

/** @param key the attribute that the value is of. Default: that of the resource */
type FindRecord = (value: Id, action: Action, key?: string) => Promise<object>;

/** The only row with the value: a key may be unique in the model, and not in the table. */
function oneBy(repository: Repository, key: string, value: Id): Promise<object> {
  return repository.addressedBy(key).one({ [key]: value });
}

/**
 * Finds a record by the attribute that the parameter of the path is named after.
 *
 * @throws ConfigError for a name that is no attribute, or cannot be read from a path, or is not unique in the model
 */
function keyedFinder(resource: Resource, key: string, find: FindRecord): (action: Action) => Promise<object> {
  const { name, info } = resource.plan;
  const attribute = info.attributes.get(key);
  const source = `@InjectRecord({ by: '${key}' }) of ${resource.controller.name}`;
  if (!attribute) {
    const names = [...info.attributes.keys()];
    throw new ConfigError([`${source} names no attribute of ${name}.${didYouMean(key, names)}`]);
  }
  const address = { ...attribute, isAddress: true } as const;
  const { parser, problems } = compileId({ name, address: [address] }, undefined, parseIdText);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `${source}: ${problem}`));
  if (!isUniqueAttribute(info, key))
    throw new ConfigError([
      `${source} names an attribute that is not unique, so that it could find several records; write unique: true at its @Column, or ` +
        'give @Table a unique index of it.',
    ]);
  const plan = { name, parseId: parser, info: { address: [address] } };
  return (action) => find(parsePathId(plan, action.request, key) as Id, action, key);
}

/** True where the model declares that no two rows have the same value. */
export function isUniqueAttribute(
  { model, primaryKey, attributes }: ResourcePlan['info'],
  name: string,
): boolean {
  const names: readonly unknown[] = [name, attributes.get(name)?.column];
  const isOfOne = uniqueFields(model).some((fields) => fields.length === 1 && names.includes(fields[0]));
  return isOfOne || name === keyText(primaryKey);
}
