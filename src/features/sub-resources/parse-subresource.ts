/** A request for a sub-resource -> its arguments: those of the parent's read, and those of the target's list. */

import type { Request } from 'express';
import { relatedAccess } from '../../access/related-access.js';
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import { NOTHING_ASKED } from '../../operation/compile-features.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { checkOwner } from '../../postgres/index.js';
import {
  compileNamedRules,
  type ParserSettings,
  type RequestArguments,
} from '../../request/parse-request.js';
import { parsePathId } from '../../request/read-id.js';
import { then } from '../../util/promises.js';
import { isHidden } from '../include-names.js';
import { compileSubresourceAccess, type SubresourceAccess } from './subresource-access.js';

/** The arguments of a list under a parent. */
export interface SubresourceArguments extends RequestArguments {
  readonly access: SubresourceAccess;
  /** Arguments of the read of the parent. */
  readonly parent: RequestArguments;
}

/** Settings that a parser needs of a resource. */
type Side = Pick<ParserSettings, 'plan' | 'features' | 'access'>;

/** The parser of a sub-resource. What stops a read of the parent stops it before anything is asked of the target. */
export function compileSubresourceParser(
  parent: Side,
  target: Side,
  plan: SubresourcePlan,
): (request: Request) => SubresourceArguments | Promise<SubresourceArguments> {
  const { inputs, readQuery, readHeaders } = target.features.list;
  const askNamed = compileNamedRules(target, inputs);
  const { model } = target.plan;
  const { sequelize } = model;
  const grant = compileSubresourceAccess(plan);
  const { name } = plan.relation;
  return (request) => {
    checkOwner(model, sequelize);
    return then(parent.access(request, 'read'), (access) =>
      then(relatedAccess(request, plan), (granted) => {
        if (isHidden(plan, access.form, granted))
          throw new RefusedRequestError(403, `This request may not list ${name} of ${parent.plan.name}.`);
        const within = grant(granted, String(request.params['id']));
        return then(askNamed?.(request, within.form) ?? NOTHING_ASKED, (asked) => {
          const query = readQuery(request.url, within, [], asked);
          const id = parsePathId(parent.plan, request);
          return {
            query: readHeaders(request, query, within),
            access: within,
            parent: { query: parent.features.read.absentFor(access.form), access, id },
          };
        });
      }),
    );
  };
}
