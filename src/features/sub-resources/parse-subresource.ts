/** A request for a sub-resource -> its arguments: those of the parent's read, and those of the target's list within the rows of one parent. */

import type { Request } from 'express';
import { relatedAccess } from '../../access/related-access.js';
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import type { RuledWork } from '../../declare/endpoint.js';
import { type Access, type AccessForm, accessWith, NONE_GIVEN, perForm } from '../../operation/access.js';
import { type InputReaders, NOTHING_ASKED } from '../../operation/compile-features.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { parentSlots, type RelatedAccess, relatedSlots, rowsUnder } from '../../operation/related-rows.js';
import { checkOwner } from '../../postgres/index.js';
import {
  compileNamedRules,
  type ParserSettings,
  type RequestArguments,
} from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { parsePathId } from '../../request/read-id.js';
import { type Maybe, then } from '../../util/promises.js';
import { isHidden } from '../include-names.js';

/** The arguments of a list under a parent. */
export interface SubresourceArguments extends RequestArguments {
  readonly access: SubresourceAccess;
  readonly parent: RequestArguments;
}

type Side = Pick<ParserSettings, 'plan' | 'features' | 'access'>;

/**
 * The parser of a sub-resource. A refused read of the parent stops it before rules of the target are evaluated.
 *
 * @param work whose rules of the target hold, beside those of its list
 * @param readers of the inputs. Default: those of the list
 */
export function compileSubresourceParser(
  parent: Side,
  target: Side,
  plan: SubresourcePlan,
  work: RuledWork = 'list',
  readers: InputReaders = target.features.list,
): (request: Request) => SubresourceArguments | Promise<SubresourceArguments> {
  const { inputs, readQuery, readHeaders } = readers;
  const evaluateNamed = compileNamedRules(target, inputs);
  const { model } = target.plan;
  const { sequelize } = model;
  const grant = compileSubresourceAccess(plan);
  const { name } = plan.relation;
  return (request) => {
    checkOwner(model, sequelize);
    return then(parent.access(request, 'read'), (access) =>
      then(
        grantedWith(relatedAccess(request, plan), work === 'list' ? null : target.access(request, work)),
        (granted) => {
          if (isHidden(plan, access.form, granted))
            throw new RefusedRequestError(403, `This request may not list ${name} of ${parent.plan.name}.`);
          const within = grant(granted, String(request.params['id']));
          return then(evaluateNamed?.(request, within.form) ?? NOTHING_ASKED, (asked) => {
            const query = readQuery(request.url, within, [], asked);
            const id = parsePathId(parent.plan, request);
            return {
              query: readHeaders(request, query, within),
              access: within,
              parent: { query: parent.features.read.absentFor(access.form), access, id },
            };
          });
        },
      ),
    );
  };
}

/** The access to a relation, where another rule allows the request, too. */
function grantedWith(granted: Maybe<RelatedAccess>, rule: Maybe<Access> | null): Maybe<RelatedAccess> {
  return rule === null ? granted : then(rule, () => granted);
}

/** Makes the access of a request. @param id the parent's, as the path has it */
type GrantSubresource = (related: RelatedAccess, id: string) => SubresourceAccess;

/** Compiles the access to a sub-resource. Requests with the same rules share a form, as everywhere. */
function compileSubresourceAccess(plan: SubresourcePlan): GrantSubresource {
  const formOf = perForm((form) =>
    Object.freeze({ ...form, where: rowsUnder(plan, { target: form, where: null, through: null }) }),
  );
  return (related, id) => {
    const { target, where, through } = related;
    const form = formOf(target.form);
    const isUsual = target.where === target.form.where && !where && !through?.where;
    return new SubresourceAccess(plan, form, isUsual ? form.where : rowsUnder(plan, related), related, id);
  };
}

/** The access of one request to the rows of one parent. Its statements lack the parent's key until that is read. */
class SubresourceAccess implements Access {
  readonly allowed = null;
  readonly given = NONE_GIVEN;
  readonly slots: Access['slots'];
  readonly references = [];

  constructor(
    private readonly plan: SubresourcePlan,
    readonly form: AccessForm,
    readonly where: Predicate | null,
    private readonly related: RelatedAccess,
    private readonly id: string,
  ) {
    this.slots = relatedSlots(related);
  }

  values(): ReturnType<Access['values']> {
    return this.related.target.values();
  }

  /** A cursor belongs to one parent and relation. */
  digest(): string {
    const { parent, name } = this.plan.relation;
    const { target, where, through } = this.related;
    return JSON.stringify([parent.name, name, this.id, target.digest(), where, through?.digest() ?? null]);
  }

  /** The same with the text of the parent's key, as `relationKeys` has it. */
  under(key: string): Access {
    return accessWith(this, { slots: { ...this.slots, ...parentSlots(this.plan.relation, key) } });
  }
}
