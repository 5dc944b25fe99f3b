/** `sentBack`: a PATCH or PUT of a record as a GET returned it. Read-only properties whose values are unchanged are left out of the body. */
import { isDeepStrictEqual } from 'node:util';
import type { Request } from 'express';
import type { OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import type { Id } from '../../execute/records/repository-operations.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ActingFeature, AroundContext, AroundFinder } from '../../handle/around.js';
import { compileReadLocked } from '../../handle/read-locked.js';
import { type AccessForm, closedAttributes, perForm } from '../../operation/access.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import { replacementSchema } from '../../request/parse-replacement.js';
import { parsePathId } from '../../request/read-id.js';
import { type BodySchema, bodySchema } from '../../schema/body-schema.js';
import { InvalidBodyError, readOnlyIssue } from '../../schema/request-issue.js';
import { showValue } from '../../util/option-problems.js';
import { without } from '../../util/without.js';

const CHOICES = ['refuse', 'ignore-unchanged'] as const;

/** Read-only properties that a request has sent. */
const SENT = Symbol('sent back');

interface SendingRequest extends Request {
  [SENT]?: Readonly<Record<string, unknown>>;
}

function compileChoice(value: unknown, { report }: OptionCheck): boolean {
  if (!CHOICES.some((each) => each === value))
    report(`sentBack is ${showValue(value)}; use ${CHOICES.map((each) => `'${each}'`).join(' or ')}.`);
  return value === 'ignore-unchanged';
}

function makeFeature({ plan, readable }: FeatureContext): ActingFeature | null {
  if (plan.features['sentBack'] !== true) return null;
  const take = (schemaFor: (form: AccessForm) => BodySchema) => {
    const namesFor = perForm((form) => {
      const { properties } = schemaFor(form);
      return readable.filter((name) => !properties.has(name) && !form.unreadable.has(name));
    });
    return (request: SendingRequest, form: AccessForm, body: unknown): unknown => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
      const values = body as Readonly<Record<string, unknown>>;
      const sent = namesFor(form).filter((name) => Object.hasOwn(values, name));
      if (sent.length === 0) return body;
      request[SENT] = Object.fromEntries(sent.map((name) => [name, values[name]]));
      return without(values, sent);
    };
  };
  return {
    prepareBody: {
      update: take((form) => bodySchema(plan, 'update', closedAttributes(form, 'update'))),
      replace: take((form) => replacementSchema(plan, form)),
    },
    around: (resource, route, context) =>
      route.operation === 'update' || route.operation === 'replace'
        ? compileFinder(resource, route, context)
        : null,
  };
}

/** Compares the values of a body with the record that it writes, which is locked until the write is done. */
function compileFinder(
  resource: Resource,
  { operation }: RouteSpec,
  { shaper, shapedBy }: AroundContext,
): AroundFinder {
  // Interceptors of the application hide values from clients, too. A comparison would confirm guesses of them.
  const readLocked = shapedBy.isChanged ? null : compileReadLocked(resource, shaper);
  return async (action, input) => {
    const sent = (action.request as SendingRequest)[SENT];
    if (!sent) return null;
    return {
      async run(next) {
        const id = input?.id ?? parsePathId(resource.plan, action.request);
        const text = await readLocked?.(action, id as Id, 'text');
        // A change of a missing record is refused for that.
        if (text === null && operation === 'update') return next();
        const record: Readonly<Record<string, unknown>> = typeof text === 'string' ? JSON.parse(text) : {};
        const changed = Object.keys(sent).filter(
          (name) => !Object.hasOwn(record, name) || !isDeepStrictEqual(record[name], sent[name]),
        );
        if (changed.length > 0) throw new InvalidBodyError(changed.map(readOnlyIssue));
        return next();
      },
    };
  };
}

const changeProblems: ResourceCheck = ({ features, endpoints }) => {
  if (features['sentBack'] !== true) return [];
  if (!endpoints.has('update') && !endpoints.has('replace'))
    return [
      "sentBack is for changes, and endpoints has neither 'update' nor 'replace'; add one, or leave it out.",
    ];
  return endpoints.has('read')
    ? []
    : [
        "sentBack compares a body with the answer of 'read', which endpoints lacks; add it, or leave sentBack out.",
      ];
};

/** The feature of resources with the option. */
export const sentBack: FeatureFactory = Object.assign(makeFeature, {
  check: changeProblems,
  resourceOptions: { sentBack: compileChoice },
});
