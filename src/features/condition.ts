/** Conditions of HTTP: `If-Match`. */
import type { EntityTagPlan, ResourcePlan } from '../compile/resource-plan.js';
import { type ByEndpoint, type FeatureFactory, type Inputs, NO_VERSION } from '../operation/feature.js';
import { allOf, equalTo } from '../operation/predicates.js';
import { type ProblemStatus, RefusedRequestError } from '../operation/refused-request-error.js';
import type { Predicate } from '../request/query/predicate.js';
import type { SealedStates } from '../request/query/sealed-states.js';
import { perPair } from '../util/memo.js';
import { withArticle } from '../util/with-article.js';
import { hidesState, inState, readStates, taggedRecord, WANTED_STATE } from './entity-tag.js';
import { refusedHeader } from './refused-header.js';

/** Operations that change a record which exists. */
const CHANGES = ['update', 'delete', 'replace'] as const;

/**
 * A write with `If-Match` happens only if the record still is the one that the client has seen. Without strong tags no condition
 * is certain (RFC 9110, 13.1.1), and a write that ignores it may overwrite another change.
 */
export const condition: FeatureFactory = ({ plan, cursors }) => {
  const { entityTag } = plan;
  return entityTag === null ? refuseAll(plan) : checkState(plan, entityTag, cursors.states);
};

function refuseAll({ name }: ResourcePlan): ReturnType<FeatureFactory> {
  return {
    inputs: [
      refusedHeader('If-Match', ['create', ...CHANGES], () => {
        const detail = `${name} has no entity tags, so If-Match cannot be checked, and nothing was done; leave it out.`;
        return new RefusedRequestError(412, detail);
      }),
    ],
    problems: { create: [412], ...problemsOf([412]) },
  };
}

function checkState(
  plan: ResourcePlan,
  tag: EntityTagPlan,
  sealedStates: SealedStates,
): ReturnType<FeatureFactory> {
  const { name, ifMatch } = plan;
  const isRequired = ifMatch === 'required';
  // One state is the usual case: its condition is the same object each time, so that its text is found in the cache.
  const inOne = perPair((where: Predicate) => allOf(where, equalTo(tag.attribute, WANTED_STATE)));
  const within = <O extends { readonly where: Predicate }>(operation: O, { ifMatch: states }: Inputs): O => {
    if (states === undefined || states === null) return operation;
    const { where } = operation;
    const isUsual = states.length === 1 && states[0] !== NO_VERSION;
    return { ...operation, where: isUsual ? inOne(where) : allOf(where, inState(tag, states)) };
  };
  return {
    inputs: [
      {
        in: 'header',
        name: 'If-Match',
        endpoints: CHANGES,
        member: 'ifMatch',
        read(text, { access, id }) {
          const record = taggedRecord(plan, id);
          const states = readStates(tag, text, hidesState(tag, access.form), (sealed) =>
            sealedStates.open(sealed, record),
          );
          if (states !== undefined) return states;
          throw new RefusedRequestError(400, 'If-Match is no list of entity tags, such as "7", and no *.');
        },
        ...(isRequired
          ? {
              missing(isGiven) {
                // `If-None-Match` rules out an overwrite. The other changes are refused with it.
                if (isGiven('If-None-Match')) return;
                throw new RefusedRequestError(
                  428,
                  `A change of ${withArticle(name)} needs the header If-Match, with the ETag that a read of it has given.`,
                );
              },
            }
          : {}),
        describe: () => ({
          description: `Only if the record still has one of these tags. ${isRequired ? 'Required.' : 'Default: in any state.'}`,
          schema: { type: 'string' },
        }),
      },
      refusedHeader('If-Match', ['create'], () => {
        const detail = `A new ${name} has no state that If-Match could name, and nothing was done; leave it out.`;
        return new RefusedRequestError(412, detail);
      }),
    ],
    rewrite: {
      update: within,
      delete: within,
      replace: (operation, inputs) =>
        inputs.ifMatch === undefined ? operation : { ...within(operation, inputs), only: 'change' },
    },
    problems: {
      create: [412],
      ...problemsOf(isRequired ? [412, 428] : [412]),
    },
  };
}

function problemsOf(statuses: readonly ProblemStatus[]): ByEndpoint<readonly ProblemStatus[]> {
  return Object.fromEntries(CHANGES.map((each) => [each, statuses]));
}
