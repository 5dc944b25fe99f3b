/** What an operation gave -> the answer, in its envelope and with its address. Nothing is sent yet. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { Endpoint } from '../../metadata/crud-options.js';
import type { AnswerDraft } from '../../operation/feature.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { ListQuery } from '../../query/list-query.js';
import { type Envelope, envelopeJson, envelopeOf } from '../../response/envelope.js';
import type { WireRecord } from '../../response/record-serializer.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Resource } from '../resources/resource.js';
import type { Outcome } from './outcome.js';

/** How records are written: as JSON text, or as plain values for code that looks at them. */
export type Format = 'text' | 'values';

/** Shapes what an operation gave, as text or as values. */
export type Shape = (
  outcome: Outcome,
  input: RequestArguments,
  format: Format,
  action: Action,
) => AnswerDraft;

const NO_HEADERS = Object.freeze({});

/** The shape of an operation's answers. */
export function compileShape(resource: Resource, operation: Endpoint): Shape {
  const { plan } = resource;
  switch (operation) {
    case 'list':
      return (outcome, { query }, format, { response }) => ({
        status: response.statusCode,
        headers: NO_HEADERS,
        body: pageBody(resource, outcome, query as ListQuery, format),
      });
    case 'delete':
      return (_outcome, _input, format) => ({
        status: 204,
        headers: NO_HEADERS,
        body: format === 'text' ? '' : undefined,
      });
    default:
      return (outcome, { query }, format, { request, response }) => {
        const address = operation === 'create' ? locationOf(request, plan, outcome.key()) : undefined;
        return {
          status: operation === 'create' ? 201 : response.statusCode,
          headers: address === undefined ? NO_HEADERS : { Location: address },
          body: (format === 'text' ? outcome.texts(query?.fields) : outcome.values(query?.fields))[0],
        };
      };
  }
}

function pageBody(
  { plan, cursors }: Resource,
  { page, texts, values }: Outcome,
  query: ListQuery,
  format: Format,
): string | Envelope {
  const wrap = (items: readonly WireRecord[]) =>
    envelopeOf(page ?? { items: [] }, query.kind, items, (place) =>
      cursors.encode(place, { plan, ...query }),
    );
  const bare = wrap([]);
  // An override's page may hold anything in the place of a number, a record too, which the driver looks for.
  const isWhole = Object.values(bare).every((value) => Array.isArray(value) || !(value instanceof Object));
  return format === 'text' && isWhole ? envelopeJson(bare, texts(query.fields)) : wrap(values(query.fields));
}

/** RFC 9110, 15.3.2: the address of what was created. */
function locationOf(request: Request, { prefix }: ResourcePlan, id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined;
  return `${request.baseUrl}${prefix}/${encodeURIComponent(String(id))}`;
}
