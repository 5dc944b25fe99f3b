/** `Prefer` (RFC 7240): writes that are answered without their record, and deletes that are answered with it. */
import type { Request } from 'express';
import { ENDPOINTS, type Endpoint } from '../../declare/crud-options.js';
import { baseOf } from '../../declare/endpoint.js';
import type { Id } from '../../execute/records/repository-operations.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ActingFeature, Around, AroundContext, AroundFinder } from '../../handle/around.js';
import { compileReadLocked } from '../../handle/read-locked.js';
import type {
  AnswerDraft,
  FeatureContext,
  FeatureFactory,
  HeaderDescription,
} from '../../operation/feature.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import { parsePathId } from '../../request/read-id.js';
import { type Return, wantedReturn } from './parse-preference.js';

const PREFER = 'Prefer';
const APPLIED = 'Preference-Applied';

const WRITES = ENDPOINTS.filter((endpoint) => endpoint !== 'list' && endpoint !== 'read');
const REMOVALS = WRITES.filter(isRemoval);
const CHANGES = WRITES.filter((endpoint) => !isRemoval(endpoint));

function isRemoval(endpoint: Endpoint): boolean {
  return baseOf(endpoint) === 'delete';
}

const HEADER: Readonly<Record<string, HeaderDescription>> = {
  [APPLIED]: { description: 'The preference that the answer follows.', schema: { type: 'string' } },
};

/** A preference never fails: one that is unknown, malformed or not for this route is ignored. */
export const preference: FeatureFactory = ({ plan: { endpoints } }: FeatureContext): ActingFeature => {
  // Nothing reads a record that no route shows.
  const isShown = endpoints.has('read');
  const input = { in: 'header', name: PREFER, read: () => undefined } as const;
  return {
    inputs: [
      {
        ...input,
        endpoints: CHANGES,
        isForMany: true,
        describe: () => ({
          description: 'With `return=minimal` the answer has no body: 201 with `Location`, or 204.',
          schema: { type: 'string' },
        }),
      },
      {
        ...input,
        endpoints: REMOVALS,
        describe: () =>
          isShown
            ? {
                description: 'With `return=representation` the answer is 200 with the record as it was.',
                schema: { type: 'string' },
              }
            : null,
      },
    ],
    headers: Object.fromEntries((isShown ? WRITES : CHANGES).map((each) => [each, HEADER])),
    records: isShown
      ? Object.fromEntries(
          REMOVALS.map((each) => [each, { 200: 'The record as it was, where `Prefer` asks for it.' }]),
        )
      : {},
    around: (resource, route, context) =>
      route.verb === 'get'
        ? null
        : Object.assign(compileFinder(resource, route, context), { header: 'prefer' }),
  };
};

/** Finds the preference of a request; null where it changes nothing. */
function compileFinder(resource: Resource, route: RouteSpec, context: AroundContext): AroundFinder {
  const readLocked = isRemoval(route.operation) ? compileReadLocked(resource, context.shaper) : null;
  const applied = (wanted: Return, change: (draft: AnswerDraft) => AnswerDraft): Around => {
    // Each record has a status of its own there; and a removed link has no representation.
    const present = (draft: AnswerDraft) =>
      draft.status === 207 || (draft.status === 204 && wanted === 'representation')
        ? draft
        : withHeader(change(draft), wanted);
    return {
      attempt: (rows, input, on) => rows.run(input, on),
      present,
      async run(next) {
        const draft = await next();
        return draft && present(draft);
      },
    };
  };
  return async (action, input) => {
    const wanted = wantedReturn(sentPreference(action.request));
    if (wanted === 'minimal') {
      // Code of the user's has to receive the same as without the header.
      return context.shapedBy.isChanged ? null : applied(wanted, withoutBody);
    }
    if (wanted === undefined) return null;
    if (!isRemoval(route.operation)) return applied(wanted, (draft) => draft);
    const id = input ? input.id : parsePathId(resource.plan, action.request);
    // Many records have none.
    if (!readLocked || id === undefined) return null;
    return {
      async run(next, format) {
        const body = await readLocked(action, id as Id, format, route.operation === 'purge');
        const draft = await next();
        if (!draft || body === undefined || body === null) return draft;
        return withHeader({ ...draft, status: 200, body }, wanted);
      },
    };
  };
}

/** Several headers are joined by commas. */
function sentPreference({ headers }: Request): string {
  return String(headers['prefer']);
}

function withHeader(draft: AnswerDraft, wanted: Return): AnswerDraft {
  return { ...draft, headers: { ...draft.headers, [APPLIED]: `return=${wanted}` } };
}

function withoutBody(draft: AnswerDraft): AnswerDraft {
  const body = typeof draft.body === 'string' ? '' : undefined;
  return { ...draft, status: draft.status === 200 ? 204 : draft.status, body };
}
