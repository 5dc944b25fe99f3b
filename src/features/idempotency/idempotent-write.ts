/** Writes that are done once, however often they are sent: takes the key of a request, and keeps the answer under it. */

import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { guarded } from '../../access/evaluate-rules.js';
import { accessRules } from '../../access/reference-access.js';
import { requestSettings } from '../../access/row-security.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { baseOf, type Endpoint } from '../../declare/endpoint.js';
import { keyNames } from '../../describe/row-key.js';
import { SqlExecutor } from '../../execute/rows/sql-executor.js';
import type { Resource } from '../../express/resources/resource.js';
import { type ActingFeature, type Around, type AroundFinder, worksOf } from '../../handle/around.js';
import { accessToRead } from '../../handle/read-locked.js';
import { type ExtendWrite, outcomeOfRows, sessionTarget } from '../../handle/run-rows.js';
import type { Format, Shape } from '../../handle/shape-answer.js';
import type { Access } from '../../operation/access.js';
import { columnsGiven } from '../../operation/compile-operation.js';
import type { AnswerDraft, FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { byKey, idSlot } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type RouteSpec, routePath } from '../../operation/route-spec.js';
import type { StatementTarget } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import { valueText } from '../../request/query/rule-filters.js';
import { hasBody, isRead, sentBody } from '../../request/read-body.js';
import { requestLogger } from '../../request/request-log.js';
import { IDEMPOTENCY_KEY, parseKey, REPLAYED, refuseKeys, takeKeys } from './idempotency-key.js';
import { compileKeySettings, type KeySettings } from './idempotency-options.js';
import { type AttemptFailure, attemptFailure, type KeptAnswer, KeptAnswers } from './kept-answers.js';
import { type AnswerKey, isRow, keepingRow, keptRow } from './kept-row.js';
import { keyTables, type RequestKey } from './key-table.js';

function makeFeature({ application }: FeatureContext): ActingFeature {
  const settings = application?.['idempotency'] as KeySettings | undefined;
  if (!settings) return refuseKeys();
  return {
    ...takeKeys(settings.isRequired),
    around: (resource, route, { shape }) =>
      route.verb === 'get'
        ? null
        : Object.assign(keyFinder(resource, route, settings, shape), { header: HEADER }),
  };
}

/** Keys of writes. Without the option they are refused. */
export const idempotency: FeatureFactory = Object.assign(makeFeature, {
  options: { idempotency: compileKeySettings },
  tables: keyTables,
});

const HEADER = IDEMPOTENCY_KEY.toLowerCase();

function keyFinder(resource: Resource, route: RouteSpec, settings: KeySettings, shape: Shape): AroundFinder {
  const { plan, access, features } = resource;
  const { operation } = route;
  const answers = new KeptAnswers(plan.model, settings.retention);
  const path = routePath(plan.prefix, route);
  const readRow = compileRowReader(resource, operation);
  const [, ...others] = worksOf(resource, route);
  const models = [...new Set(others.map((other) => other.model))];
  return async (action, input) => {
    const { request } = action;
    const key = parseKey(String(request.get(IDEMPOTENCY_KEY)));
    const principal = await evaluatePrincipal(settings, request);
    const granted = input?.access ?? (await access(request, route.operation));
    const scope = scopeOf(request, path, principal);
    const body = input ? sentBody(request) : ownBody(request);
    const beside = models.length > 0 ? await rightsBeside(request, models) : [];
    const requestKey = { scope, key, fingerprint: fingerprintOf(request, granted, body, beside) };
    answers.sweep(requestLogger(request));
    const wanted = input ?? { access: granted, query: features[operation].absentFor(granted.form) };
    const status = route.status ?? 200;
    const show = async (known: KeptAnswer, format: Format): Promise<AnswerDraft> => {
      // A delete has shown its record because the request could read it. One of many shows a number.
      const isOfOne = input === null || input.id !== undefined;
      const isRead = isOfOne && baseOf(operation) === 'delete' && status === 204 && known.status === 200;
      if (isRead && !(await accessToRead(access, request))) throw new RefusedRequestError(409, UNANSWERED);
      if (!isRow(known.answer)) return given(known, format);
      const found = await readRow(known.answer, wanted, await target(plan));
      if (!found) throw new RefusedRequestError(409, UNANSWERED);
      return shape(found, wanted, format, action);
    };
    const answerKey = { ...requestKey, status };
    return idempotentWrite(answers, answerKey, plan, action.response, show);
  };
}

/** Where the write runs: the statements of the key join the session of the running code, too. */
async function target({ model }: Pick<ResourcePlan, 'model'>): Promise<StatementTarget> {
  const on = await sessionTarget(model.sequelize, 'post');
  if (!on) throw new TypeError('A write with an Idempotency-Key has no transaction.');
  return on;
}

/** Reads a row that was kept; null where the application answers with other columns now. */
function compileRowReader(resource: Resource, operation: Endpoint) {
  const { info } = resource.plan;
  const executor = new SqlExecutor(info);
  return async (answer: string, { query, access }: RequestArguments, on: StatementTarget) => {
    const columns = columnsGiven(resource.features[operation].operation(query, access, {}));
    const row = keptRow(answer, columns);
    if (!row) return null;
    const where = byKey(info.address);
    const none = keyNames(info.address).map((name) => [idSlot(info.address, name).slot, null] as const);
    // Finds nothing, and says how the columns are read.
    const { parsers } = await executor.run(
      { kind: 'read', where, select: { columns }, isFresh: true },
      Object.fromEntries(none),
      on,
    );
    return outcomeOfRows(resource, columns, { rows: [row], parsers, count: 1 }, query, null);
  };
}

function idempotentWrite(
  answers: KeptAnswers,
  key: RequestKey & Pick<AnswerKey, 'status'>,
  plan: ResourcePlan,
  response: Response,
  show: (known: KeptAnswer, format: Format) => Promise<AnswerDraft>,
): Around {
  let failure: AttemptFailure = null;
  let cause: unknown;
  /** Takes the key. @returns the answer to an earlier request with it, or null @throws RefusedRequestError 409, 422 */
  const take = async (format: Format): Promise<AnswerDraft | null> => {
    const known = await answers.take(key, await target(plan), failure === 'locked');
    switch (known) {
      case null:
        // Something else has the row.
        if (failure === 'locked') throw cause;
        return null;
      case 'other':
        throw new RefusedRequestError(422, OTHER);
      case 'under way':
        throw new RefusedRequestError(409, UNDER_WAY, { 'Retry-After': '1' });
      case 'unanswered':
        throw new RefusedRequestError(409, UNANSWERED);
      default:
        return replayed({ ...(await show(known, format)), status: known.status });
    }
  };
  /** Keeps the answer; null where the method has answered by itself. */
  const keep = async (draft: AnswerDraft | null): Promise<void> => {
    const status = draft?.status ?? response.statusCode;
    const isSuccess = status >= 200 && status <= 299;
    if (draft && isSuccess) await answers.keep(key, answerOf(draft, response), await target(plan));
    if (isSuccess) return;
    const released = target(plan).then((on) => answers.release(key, on));
    // Where the answer is out already, a unit of work around may be over, and the key with it.
    await (draft ? released : released.catch(() => {}));
  };
  return {
    async attempt(rows, input, on) {
      try {
        const place = { ...key, table: answers.table };
        const keep: ExtendWrite = (write, columns) => keepingRow(place, write, columns);
        return (await rows.runExtended?.(input, keep, on)) ?? null;
      } catch (error) {
        failure = attemptFailure(error);
        if (failure === null) throw error;
        cause = error;
        return null;
      }
    },
    async run(next, format) {
      const known = await take(format);
      if (known) return known;
      const made = await next();
      await keep(made);
      return made;
    },
  };
}

const OTHER = 'This Idempotency-Key was used for another request; use another key.';
const UNDER_WAY = 'A request with this Idempotency-Key is under way; send it again a little later.';
const UNREAD =
  'Idempotency-Key is not kept for this body, which the route reads by itself, and nothing was done; leave the key out.';
const UNANSWERED =
  'The request with this Idempotency-Key was done, and its answer cannot be repeated; read what it has written.';

/** The sender of a request. @throws RefusedRequestError 403 where there is none */
export async function evaluatePrincipal({ principal }: KeySettings, request: Request): Promise<string> {
  const answer = await guarded(principal, request);
  if (answer === null || answer === undefined || answer === '') {
    throw new RefusedRequestError(403, 'This request has no access.');
  }
  if (typeof answer === 'string') return answer;
  throw new TypeError(
    `idempotency.principal gave a ${typeof answer === 'object' ? 'value' : typeof answer}, which is no text; write it as one, such as String(id).`,
  );
}

/** Scope in which a key is unique. */
export function scopeOf({ method, baseUrl }: Request, path: string, principal: string): string {
  return digest(JSON.stringify([principal, method, `${baseUrl}${path}`]));
}

/** Rows and attributes of other models that a request may see, whose rows its route writes and answers along. */
function rightsBeside(request: Request, models: readonly ModelClass[]): Promise<readonly unknown[]> {
  const rightsTo = async (model: ModelClass) => {
    const rule = accessRules(request)?.accessTo(model);
    const access = rule && (await accessToRead(rule, request, 'list'));
    return access && [access.digest(), ...[...access.form.unreadable].sort()];
  };
  return Promise.all(models.map(rightsTo));
}

/**
 * Fingerprint of a request: target, body, and the value that it writes within; behind a dot the rows and attributes that it sees, and
 * the rows that it may change.
 *
 * @param beside its rights to rows of other models, that its answer shows. Default: none
 */
export function fingerprintOf(
  request: Request,
  access: Access,
  body: string,
  beside: readonly unknown[] = [],
): string {
  const within = [...access.form.scope]
    .filter(([, mode]) => mode === 'one')
    .map(([name]) => [name, ...(access.values().get(name) ?? []).map(valueText)]);
  // A proxy may write the comma of an id in another way, for the same record.
  const url = request.originalUrl.replace(/^[^?]*/, (path) => path.replaceAll(/%2C/gi, ','));
  const asked = digest(`${JSON.stringify([url, within])}\n${body}`);
  const { allowed, form } = access;
  const seen = [
    access.digest(),
    requestSettings(request)?.key || undefined,
    ...(allowed ? [allowed] : []),
    ...(beside.length > 0 ? [beside] : []),
    ...(form.unreadable.size > 0 ? [[...form.unreadable].sort()] : []),
  ];
  return `${asked}.${digest(JSON.stringify(seen))}`;
}

function digest(content: string | Buffer): string {
  return hash('sha256', content, 'base64url');
}

/** A file as multer leaves it; one that it has stored itself has no bytes. */
interface SentFile {
  readonly fieldname: string;
  readonly originalname: string;
  readonly buffer?: Buffer;
}

/** Files of one field, of several, or by the names of fields. */
interface SentFiles {
  readonly file?: SentFile;
  readonly files?: readonly SentFile[] | Readonly<Record<string, readonly SentFile[]>>;
}

/**
 * The body of a request whose method reads it by decorators or by itself.
 *
 * @throws RefusedRequestError 400 where its bytes are not known: another body under the same key would be a replay
 */
function ownBody(request: Request): string {
  const { file, files } = request as SentFiles;
  const sent = [file ?? [], Object.values(files ?? {})].flat(2) as readonly SentFile[];
  const text = sentBody(request);
  const isKnown = !hasBody(request) || (isRead(request) && text !== '');
  const parts = sent.map(
    ({ fieldname, originalname, buffer }) => buffer && [fieldname, originalname, digest(buffer)],
  );
  if (!isKnown || parts.includes(undefined)) throw new RefusedRequestError(400, UNREAD);
  return parts.length > 0 ? text + JSON.stringify(parts) : text;
}

/** An override may have set the headers by itself. */
function answerOf({ status, headers, body }: AnswerDraft, response: Response): KeptAnswer {
  const headerOf = (name: string): string | null => {
    const value = headers[name] ?? response.getHeader(name);
    return value === undefined ? null : String(value);
  };
  const answer = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  return { status, location: headerOf('Location'), etag: headerOf('ETag'), answer };
}

function replayed(draft: AnswerDraft): AnswerDraft {
  return { ...draft, headers: { ...draft.headers, [REPLAYED]: 'true' } };
}

function given({ status, location, etag, answer }: KeptAnswer, format: Format): AnswerDraft {
  const headers = {
    ...(location === null ? {} : { Location: location }),
    ...(etag === null ? {} : { ETag: etag }),
  };
  if (format === 'text') return { status, headers, body: answer };
  return { status, headers, body: answer === '' ? undefined : JSON.parse(answer) };
}
