/** Shapes the outcome of an operation into the answer, with its envelope and its features. Nothing is sent yet. */
import type { Request, Response } from 'express';
import type { Action } from 'routing-controllers';
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { answering } from '../express/resources/application-access.js';
import type { Resource } from '../express/resources/resource.js';
import type { AnswerDraft, MediaType } from '../operation/feature.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { ListQuery } from '../request/query/list-query.js';
import { type Envelope, envelopeOf } from '../respond/envelope.js';
import { jsonReplacer, writesPlainJson } from '../respond/json-answer.js';
import type { Outcome } from './outcome.js';

/** Format of records: JSON text, or plain values for code that reads them. */
export type Format = 'text' | 'values';

/** Shapes the outcome of an operation, as text or as values. */
export type Shape = (
  outcome: Outcome,
  input: RequestArguments,
  format: Format,
  action: Action,
) => AnswerDraft;

const NO_HEADERS = Object.freeze({});

/** Code of the user's that takes part in the answers of a route, beside the rows. */
export interface ShapedBy {
  /** True where a method, or a repository, of the user's makes the answer. */
  readonly isMethodAsked: boolean;
  /** True where code of the user's receives the answer before it is sent. */
  readonly isChanged: boolean;
  /** True where the application has rules of access, by which records are masked. */
  readonly isRuled: boolean;
}

const BY_ANYONE: ShapedBy = Object.freeze({ isMethodAsked: true, isChanged: true, isRuled: true });

/** The shape of a route's answers. */
export function compileShape(
  resource: Resource,
  { operation, status: ownStatus }: RouteSpec,
  { isMethodAsked, isChanged, isRuled }: ShapedBy = BY_ANYONE,
): Shape {
  const { present, media, varies } = resource.features[operation];
  const isOfRows = !isMethodAsked && !resource.rowView.runsUserCode;
  const bodyOf = compileBody(resource, operation);
  return (outcome, input, format, { request, response }) => {
    const { query } = input;
    const form = media.length > 0 && !isChanged ? chooseMedia(media, request, response) : null;
    const status = ownStatus ?? (outcome.isNew ? 201 : response.statusCode);
    const make = () =>
      form
        ? pageText(resource, outcome, input, format, form, jsonReplacer(response))
        : bodyOf(outcome, input, format);
    const body = isRuled ? answering(request, make) : make();
    const draft = { status, headers: form ? { 'Content-Type': form.type } : NO_HEADERS, body };
    if (!present) return draft;
    const isFinal = !isChanged && (format === 'text' || writesPlainJson(response));
    const isAll = input.access.form.unreadable.size === 0 && !query.include?.length;
    const isWhole = isAll && !varies?.(query);
    return present(
      draft,
      {
        inputs: query,
        count: outcome.count,
        form: input.access.form,
        key: outcome.key,
        stored: outcome.stored,
        isOfRow: isOfRows && isWhole && isFinal,
        isFinal,
      },
      request,
    );
  };
}

function compileBody(
  resource: Resource,
  operation: Endpoint,
): (outcome: Outcome, input: RequestArguments, format: Format) => unknown {
  switch (baseOf(operation)) {
    case 'list':
      return (outcome, input, format) => pageBody(resource, outcome, input, format);
    case 'delete':
      return (_outcome, _input, format) => (format === 'text' ? '' : undefined);
    default:
      return (outcome, { query: { fields } }, format) =>
        format === 'text' ? outcome.writer(fields)(0) : outcome.values(fields)[0];
  }
}

/** The form of a list that the client accepts most; null is JSON. */
function chooseMedia(media: readonly MediaType[], request: Request, response: Response): MediaType | null {
  response.vary('Accept');
  const type = request.accepts(['application/json', ...media.map((each) => each.type)]);
  return media.find((each) => each.type === type) ?? null;
}

function pageText(
  resource: Resource,
  outcome: Outcome,
  input: RequestArguments,
  format: Format,
  form: MediaType,
  replacer: ReturnType<typeof jsonReplacer>,
): string {
  const { size, writer, values } = outcome;
  const { fields } = input.query;
  function* records(): Iterable<string> {
    if (format === 'values') for (const each of values(fields)) yield JSON.stringify(each, replacer);
    const write = format === 'text' ? writer(fields) : null;
    for (let index = 0; write && index < size; index += 1) yield write(index);
  }
  const { items: _, ...envelope } = bareEnvelope(resource, outcome, input);
  let text = '';
  for (const piece of form.write(records(), envelope)) text += piece;
  return text;
}

const NO_ITEMS = '{"items":[]';

/** The envelope of a page without its items. */
function bareEnvelope(
  resource: Resource,
  { page }: Outcome,
  { query: inputs, access }: RequestArguments,
): Envelope {
  const { plan, cursors } = resource;
  const query = inputs as ListQuery;
  return envelopeOf(page ?? { items: [] }, query.kind, plan.count !== null, [], (place) =>
    cursors.encode(place, { plan, sort: query.sort, digest: resource.features.list.digest(inputs, access) }),
  );
}

function pageBody(
  resource: Resource,
  outcome: Outcome,
  input: RequestArguments,
  format: Format,
): string | Envelope {
  const { isOfMethod, size, writer, values } = outcome;
  const { query } = input;
  const bare = bareEnvelope(resource, outcome, input);
  const filled = (): Envelope => ({ ...bare, items: values(query.fields) });
  if (isOfMethod && holdsObjects(bare)) return noteUnshaped(filled());
  if (format === 'values') return filled();
  const write = writer(query.fields);
  let text = '{"items":[';
  // Added in a loop, because `join` copies every text once more.
  for (let index = 0; index < size; index += 1) text += index === 0 ? write(index) : `,${write(index)}`;
  // The items come first in every envelope.
  return `${text}]${JSON.stringify(bare).slice(NO_ITEMS.length)}`;
}

/** An override's page may hold anything in the place of a number, a record too, which the driver searches for. */
function holdsObjects(envelope: Envelope): boolean {
  return Object.values(envelope).some((value) => value instanceof Object && !Array.isArray(value));
}

const unshaped = new WeakSet<object>();

function noteUnshaped<T extends object>(body: T): T {
  unshaped.add(body);
  return body;
}

/** True where a body may still hold records, which must not leave as they are in memory. */
export function isUnshaped(body: unknown): boolean {
  return typeof body === 'object' && body !== null && unshaped.has(body);
}
