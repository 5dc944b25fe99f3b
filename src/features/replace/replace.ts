/** Replacement of a record: `PUT /{id}` creates it where clients send keys, or sets its other values. */

import type { ResourceCheck } from '../../compile/compile-resource.js';
import { isOfKey, keyText } from '../../describe/row-key.js';
import { passedGuards } from '../../express/resources/method-problems.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { Feature, FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type RoutePlan, routeOf, USUAL } from '../../operation/route-spec.js';
import { withArticle } from '../../util/with-article.js';
import { refusedHeader } from '../refused-header.js';

const REPLACE: HandledRoute = routeOf('replace', {
  verb: 'put',
  path: '/:id',
  parameters: ['id', 'values', 'context'],
  words: {
    verb: 'Replace',
    success: USUAL.update.words.success,
    description: () =>
      'Creates the record, or gives it other values: what is absent has its default, or is null where it has none.',
  },
  problems: problemsOfGuards,
});

/** A change of all that a request may set. The server makes the keys of new records, so that it creates none. */
const REPLACE_EXISTING: HandledRoute = {
  ...REPLACE,
  operation: 'update',
  parses: 'replace',
  words: {
    ...REPLACE.words,
    description: () =>
      'Gives the record other values: what is absent has its default, or is null where it has none. It creates no record.',
  },
};

/** The route that fits the key. */
export const replace: FeatureFactory = Object.assign(onlyNew, {
  routes({ endpoints, isKeyGiven }: RoutePlan) {
    if (!endpoints.has('replace')) return [];
    return [isKeyGiven ? REPLACE : REPLACE_EXISTING];
  },
  check: bodyProblems,
});

/** Operations that change a record which exists. The condition rules them out (RFC 9110, 13.1.2). */
const CHANGES = ['update', 'delete'] as const;

/**
 * `If-None-Match: *`: a replacement that creates, and leaves a record that is there alone; changes refuse it. For resources with tags
 * and without, because the existence of a record needs none.
 */
function onlyNew({ plan: { name } }: FeatureContext): Feature {
  return {
    inputs: [
      {
        in: 'header',
        name: 'If-None-Match',
        endpoints: ['replace'],
        member: 'onlyNew',
        read(text, { textOf }) {
          checkAny(text);
          if (textOf('If-Match') === undefined) return true;
          // Both cannot hold (RFC 9110, 13.2.2).
          throw new RefusedRequestError(
            412,
            `A ${name} cannot be there and not be there, and nothing was done; send If-Match or If-None-Match.`,
          );
        },
        describe: () => ({
          description: 'With `*` the record is created, and one that is there stays as it is.',
          schema: { type: 'string', enum: ['*'] },
        }),
      },
      refusedHeader('If-None-Match', CHANGES, (text) => {
        checkAny(text);
        const detail = `Only ${withArticle(name)} that is there can be changed, and nothing was done; leave If-None-Match out.`;
        return new RefusedRequestError(412, detail);
      }),
    ],
    rewrite: {
      replace: (operation, inputs) => (inputs.onlyNew ? { ...operation, only: 'create' } : operation),
    },
    records: { replace: { 201: USUAL.create.words.success } },
    problems: Object.fromEntries([...CHANGES, 'replace'].map((each) => [each, [412]])),
  };
}

/** Why the endpoint cannot create and replace the records; none where there is no such endpoint. */
function bodyProblems({
  info,
  isKeyGiven,
  endpoints,
  access,
  explicitSchemas: { create, update },
}: Parameters<ResourceCheck>[0]): string[] {
  if (!endpoints.has('replace')) return [];
  const { address, primaryKey } = info;
  const unfilled = primaryKey.filter(
    ({ name, hasDefault }) => !isOfKey(address, name) && !hasDefault && !access?.scope.has(name),
  );
  return [
    ...(isKeyGiven && unfilled.length > 0
      ? [
          `endpoints has 'replace', which creates records by their ${keyText(address)}, and nothing fills their key '${keyText(unfilled)}'; give it a ` +
            'default, such as @Default(DataType.UUIDV4), or leave the endpoint out.',
        ]
      : []),
    ...(update && update !== create
      ? [
          `endpoints has 'replace', whose body has to be right for both writes, and updateSchema ${update.name} is not the ` +
            'createSchema; use one class for the two, or leave it out.',
        ]
      : []),
  ];
}

/**
 * A replacement creates or updates, and decides between them only inside the method: neither method's decorators can
 * come before it. Decorators of `replace` do, where the user has written it.
 */
function problemsOfGuards(resource: Resource): string[] {
  return passedGuards(resource, 'replace', resource.plan.isKeyGiven ? ['create', 'update'] : ['update']);
}

/** @throws RefusedRequestError 400 */
function checkAny(text: string): void {
  if (text.trim() !== '*') throw new RefusedRequestError(400, 'If-None-Match of a write is *.');
}
