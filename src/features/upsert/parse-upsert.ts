/** A request with `on_conflict` -> the key and the values of one record, or of many. */
import type { Request } from 'express';
import { accessToWrite, checkScopedValues, refusePartialKeys } from '../../access/reference-access.js';
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { idOf, keyNames } from '../../describe/row-key.js';
import { textOfId } from '../../execute/sql/encode-parameter.js';
import { type Access, closedAttributes, perForm, presetOf, withGiven } from '../../operation/access.js';
import { compileHeaderReader, compileQueryReader } from '../../operation/compile-features.js';
import { bodyLimits, type ParserSettings, type RequestArguments } from '../../request/parse-request.js';
import { parseQueryString } from '../../request/query/query-string.js';
import { readBody } from '../../request/read-body.js';
import { setToldNames } from '../../request/request-notes.js';
import { bodySchema, parseBody } from '../../schema/body-schema.js';
import type { BodyValues } from '../../schema/body-values.js';
import type { MemberBudget } from '../../schema/json-value.js';
import {
  bodyPointer,
  InvalidBodyError,
  InvalidQueryError,
  type RequestIssue,
} from '../../schema/request-issue.js';
import { type BulkInputs, bulkInputs, maxOf } from '../bulk/bulk-options.js';
import { type BulkArguments, checkLength, parseItems, refuseCondition } from '../bulk/parse-bulk.js';
import { type ItemParser, NO_OBJECT, repeatedIssues, wrongItem } from '../bulk/parse-item.js';
import { ON_CONFLICT, type UpsertInputs, upsertInputs, upsertKeys } from './upsert-options.js';

/** Arguments of an upsert of one record. */
export interface UpsertArguments extends RequestArguments {
  readonly query: UpsertInputs;
  readonly values: Readonly<BodyValues>;
}

/** Names that can only mean a key: also of a misspelled one no record may be created. */
const OF_CONFLICTS = /^on[_-]?confl/i;

/** True where a request has one of the parameters: without a key no record may be written for them. */
export function namesConflict({ url }: Request): boolean {
  if (!url.includes('?')) return false;
  const { parameters, issues } = parseQueryString(url);
  const wrong = issues.map((issue) => ('parameter' in issue ? issue.parameter : ''));
  return [...parameters.keys(), ...wrong].some((name) => OF_CONFLICTS.test(name));
}

/** Compiles the parser of requests for one record or many. */
export function compileUpsertParser({ plan, features, access: evaluateAccess, bodyLimit }: ParserSettings) {
  const keys = upsertKeys(plan);
  const flags = bulkInputs(maxOf(plan), 'createMany', undefined);
  const readQuery = compileQueryReader(plan, [...upsertInputs(keys), ...flags]);
  const readSingle = compileQueryReader(plan, upsertInputs(keys));
  const { inputs, absentFor } = features.upsert;
  const readHeaders = compileHeaderReader(inputs.filter(({ isForMany }) => isForMany));
  const limits = bodyLimits(plan, 'create', bodyLimit);
  const parseOne = compileRecordParser(plan);
  const tellsGone = compileTellsGone({ plan, access: evaluateAccess });
  return async (request: Request): Promise<BulkArguments | UpsertArguments> => {
    const access = await evaluateAccess(request, 'upsert');
    const { isAtomic, isDryRun, ...named } = readQuery(request.url, access) as BulkInputs & UpsertInputs;
    if (!named.onConflict) {
      const detail = `Parameter '${ON_CONFLICT}' names the key by which a record is found, and is missing.`;
      throw new InvalidQueryError([{ parameter: ON_CONFLICT, code: 'required', detail }]);
    }
    refuseCondition(
      request,
      `is about one ${plan.name}, and ${ON_CONFLICT} finds it by the body, so that nothing was done; leave it out.`,
    );
    const own = { ...absentFor(access.form), ...named, tellsGone: await tellsGone(request) };
    const query: UpsertInputs = Object.freeze(readHeaders(request, own, access));
    const body = await readBody(request, limits);
    if (!Array.isArray(body)) {
      readSingle(request.url, access);
      return await parseOne(request, access, query, body);
    }
    checkLength(body, maxOf(plan));
    const head = { inputs: { ...named, filter: null, isAtomic, isDryRun }, access, absent: query };
    const items = await parseItems(request, head, body, compileUpsertItems(parseOne));
    return { ...head, items, each: null };
  };
}

/** True for a request that may learn that a soft-deleted row has its key. */
export function compileTellsGone({ plan, access }: Pick<ParserSettings, 'plan' | 'access'>) {
  return async (request: Request): Promise<boolean> =>
    plan.info.softDelete !== null &&
    plan.endpoints.has('restore') &&
    (!plan.access?.can.has('deleted') || (await access.allows(request, 'deleted')));
}

type RecordParser = ReturnType<typeof compileRecordParser>;

/** Parses the values of a record. The key has to have a value in each of its parts. */
export function compileRecordParser(plan: ResourcePlan) {
  const schemaFor = perForm((form) => bodySchema(plan, 'create', closedAttributes(form, 'create')));
  const isRuled = Boolean(plan.access?.fields.size);
  return async (
    request: Request,
    access: Access,
    query: UpsertInputs,
    body: unknown,
    budget?: MemberBudget,
  ): Promise<UpsertArguments> => {
    if (isRuled) setToldNames(request, access.form, body);
    const schema = schemaFor(access.form);
    const values = await parseBody(schema, body, budget);
    checkScopedValues('create', values, access);
    const { address } = query.onConflict as ModelInfo;
    const whole = withGiven(values, access, 'create');
    const valueAt = (name: string) => whole[name] ?? presetOf(access, name);
    const missing = keyNames(address).filter((name) => (valueAt(name) ?? null) === null);
    if (missing.length > 0) throw new InvalidBodyError(missing.map(missingPart));
    const written = { ...access.given.update, ...whole };
    // A class of the user's may add values that the body does not have.
    const sent = Object.keys(schema.isExplicit ? values : (body as object));
    const own = Object.fromEntries(sent.map((name) => [name, whole[name]]));
    refusePartialKeys(request, plan.model, access, { ...access.given.update, ...own });
    const granted = await accessToWrite(request, plan.model, access, written, 'create');
    return {
      query: Object.freeze({ ...query, sent: new Set(sent) }),
      access: granted,
      id: idOf(address, valueAt),
      values,
    };
  };
}

function missingPart(name: string): RequestIssue {
  const detail = `${name} is a part of the key that ${ON_CONFLICT} names, so that it must have a value.`;
  return { pointer: bodyPointer(name), code: 'isDefined', detail };
}

/** Parses one of many. Records of one key are found before any SQL, where their keys are written alike. */
export function compileUpsertItems(parseOne: RecordParser): ItemParser {
  return async (request, context, body) => {
    if (!isPlain(body)) return wrongItem(body, NO_OBJECT);
    const query = context.absent as UpsertInputs;
    try {
      const input = await parseOne(request, context.access, query, body, context.budget);
      const { address } = query.onConflict as ModelInfo;
      const issues = repeatedIssues(context, address, textOfId(address, input.id));
      return issues.length > 0 ? wrongItem(body, issues) : { body, input, problem: null };
    } catch (error) {
      if (error instanceof InvalidBodyError) return wrongItem(body, error.errors);
      throw error;
    }
  };
}
