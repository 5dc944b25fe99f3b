/** The access of a request to any model of its application, for repositories that are injected, and for foreign keys. */

import type { Request } from 'express';
import { compileRequestAccess, type RequestAccess } from '../../access/evaluate-rules.js';
import { type AccessRules, accessRules, accessSource, type RuledKey } from '../../access/reference-access.js';
import { compileUnservedAccess, ROW_RULES, type SharedAccess } from '../../compile/compile-access.js';
import type { AccessPlan } from '../../compile/resource-plan.js';
import { crudRecords } from '../../declare/crud.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeModel, describeRecords } from '../../describe/describe-model.js';
import { type ForeignKey, foreignKeysOf, keyAttributes } from '../../describe/foreign-keys.js';
import { ownModel } from '../../describe/record.js';
import { keyText } from '../../describe/row-key.js';
import { keepsRows } from '../../describe/soft-deletion.js';
import type { Repository } from '../../execute/records/repository.js';
import { liveRows } from '../../features/soft-delete/sequelize-deletion.js';
import { requestResource } from '../../request/request-notes.js';
import { ruledModels, type SerializerRegistry, withMasks } from '../../respond/result-serializer.js';
import { bodySchema } from '../../schema/body-schema.js';
import { throwProblems } from '../../util/config-error.js';
import { keptIn } from '../../util/memo.js';
import type { Resource } from './resource.js';

interface ModelAccess {
  readonly plan: AccessPlan;
  readonly access: RequestAccess;
}

/**
 * The rules of an application, for its requests; null where there are none, and no model keeps deleted rows. A model that the application does not
 * serve has those of its own `@Crud`, and the scope of `bootstrap`.
 */
export function accessOfApplication(
  resources: readonly Resource[],
  shared: SharedAccess,
): AccessRules | null {
  const isRuled =
    resources.some(({ plan }) => plan.access !== null) ||
    Object.keys(shared.scope ?? {}).length > 0 ||
    crudRecords().some(({ options }) => ROW_RULES.some((name) => options[name] !== undefined));
  if (!isRuled && !hasSoftDeletes(resources)) return null;
  const known = new Map<ModelClass, ModelAccess | null>(
    resources.map(({ plan, access }) => [plan.model, plan.access && { plan: plan.access, access }]),
  );
  const find = (model: ModelClass): ModelAccess | null => {
    if (!isRuled) return null;
    // A model that is served with another scope of Sequelize's may have other rules.
    const own = known.has(model) ? model : ownModel(model);
    return keptIn(known, own, () => accessOfUnserved(own, shared));
  };
  const plans = new Map(resources.map(({ plan }) => [plan.model, plan]));
  /** True for an attribute that a body of a change may have. */
  const isChanged = (model: ModelClass): ((name: string) => boolean) => {
    const plan = plans.get(model) ?? plans.get(ownModel(model));
    if (!plan) return (name) => describeRecords(model).attributes.get(name)?.role !== 'primaryKey';
    const { properties } = bodySchema(plan, 'update');
    return (name) => properties.has(name);
  };
  const keys = new Map<ModelClass, readonly RuledKey[]>();
  return Object.freeze({
    areNone: !isRuled,
    accessTo: (model: ModelClass) => find(model)?.access ?? null,
    keysOf: (model: ModelClass) =>
      keptIn(keys, model, () =>
        ruledKeys(model, find).map((key) => {
          if (!key.more) return key;
          const isOpen = isChanged(model);
          return {
            ...key,
            kept: new Set(keyAttributes(key).filter((name) => key.takesParts || !isOpen(name))),
          };
        }),
      ),
  });
}

/** True where a delete keeps the rows of a model of one of the resources' Sequelize instances. */
function hasSoftDeletes(resources: readonly Resource[]): boolean {
  const instances = new Set(resources.map(({ plan }) => plan.model.sequelize));
  return [...instances].some((each) =>
    Object.values(each?.models ?? {}).some((model) => keepsRows(model as ModelClass)),
  );
}

/** The foreign keys to models some of whose rows a request may not see: by a rule, or by soft deletion. */
function ruledKeys(model: ModelClass, find: (model: ModelClass) => ModelAccess | null): RuledKey[] {
  const keys = foreignKeysOf(model);
  return keys.flatMap((key) => {
    const { plan, access = null } = find(key.target) ?? {};
    const isRuled = plan && (plan.scope.size > 0 || plan.visible !== null);
    // A polymorphic one names a row of one of its models.
    const isOne =
      key.more !== undefined ||
      !keys.some(
        ({ attribute, target, more }) => !more && attribute === key.attribute && target !== key.target,
      );
    const live =
      isRuled || (isOne && (key.more !== undefined || isConstrained(model, key)))
        ? liveRows(describeRecords(key.target))
        : null;
    return isRuled || live ? [{ ...key, access: isRuled ? access : null, live }] : [];
  });
}

interface ConstrainedAssociation {
  readonly foreignKey: string;
  readonly associationType: string;
  readonly options?: { readonly constraints?: boolean };
}

/** False where a `BelongsTo` over the foreign key has `constraints: false`, so that its value may name no row. */
function isConstrained(model: ModelClass, { attribute }: ForeignKey): boolean {
  return !Object.values(model.associations as Readonly<Record<string, ConstrainedAssociation>>).some(
    ({ foreignKey, associationType, options }) =>
      associationType === 'BelongsTo' && foreignKey === attribute && options?.constraints === false,
  );
}

/** True where the application of a request has rules of access. */
export function hasAccessRules(request: Request): boolean {
  const rules = accessRules(request);
  return rules !== undefined && !rules.areNone;
}

/**
 * Makes an answer of a request, or a part of one: records in it are without attributes that the request may not read. While a rule is not
 * evaluated, the attributes that it may hide are left out.
 */
export function answering<T>(request: Request, work: () => T): T {
  const rules = accessRules(request);
  if (!rules || rules.areNone) return work();
  const masks = (model: object) => {
    const names = rules.accessTo(model as ModelClass)?.unreadable(request);
    return names === undefined || names instanceof Promise ? null : names;
  };
  return withMasks(masks, work);
}

/** Waits for the rules of the records in an answer. */
export async function evaluateForAnswer(
  request: Request,
  result: unknown,
  serializers: SerializerRegistry,
): Promise<void> {
  const rules = accessRules(request);
  if (!rules || rules.areNone) return;
  for (const model of ruledModels(result, serializers))
    await rules.accessTo(model as ModelClass)?.unreadable(request);
}

/** The same repository within the access of a request to its model, with the ids of its resource. */
export function repositoryWithin<R extends Repository>(request: Request, repository: R): R {
  const { model } = repository;
  const access = accessSource(request, model, accessRules(request)?.accessTo(model) ?? null);
  const { info } = requestResource(request) ?? {};
  const isOther = info?.model === model && keyText(info.address) !== keyText(repository.idParts);
  const addressed = isOther ? repository.addressedBy(keyText(info.address)) : repository;
  return access ? addressed.within(access) : addressed;
}

/** True where the resource of a request has other ids than repositories of its model. */
export function hasOwnIds(request: Request): boolean {
  const plan = requestResource(request);
  return plan !== undefined && keyText(describeModel(plan.model).address) !== keyText(plan.info.address);
}

function accessOfUnserved(model: ModelClass, shared: SharedAccess): ModelAccess | null {
  const problems: string[] = [];
  const plan = compileUnservedAccess(model, shared, (problem) => void problems.push(problem));
  throwProblems(problems);
  return plan && { plan, access: compileRequestAccess({ info: describeRecords(model), access: plan }) };
}
