/**
 * A request that writes many records -> an operation for each. Problems of all records are reported at once; where
 * each record is independent, they are kept for the answer.
 */
import type { Request } from 'express';
import { type BulkEndpoint, SINGLE_OF } from '../../declare/endpoint.js';
import type { RowKey } from '../../describe/model-info.js';
import type { Access } from '../../operation/access.js';
import { compileHeaderReader, compileQueryReader } from '../../operation/compile-features.js';
import type { Inputs } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import {
  bodyLimits,
  compileNamedRules,
  compileValuesParser,
  type ParserSettings,
  type RequestArguments,
  withMembers,
} from '../../request/parse-request.js';
import { readBody, sentBody } from '../../request/read-body.js';
import { setCurrentItem } from '../../request/request-notes.js';
import { MemberBudget } from '../../schema/json-value.js';
import {
  BodyError,
  InvalidBodyError,
  InvalidQueryError,
  MAX_ISSUES,
  type RequestIssue,
  withinItem,
} from '../../schema/request-issue.js';
import { isPromise } from '../../util/promises.js';
import { withArticle } from '../../util/with-article.js';
import { type BulkInputs, bulkInputs, maxOf } from './bulk-options.js';
import { type BulkItem, compileItemParser, type ItemParser, repeatedKey } from './parse-item.js';

/** Arguments of a request for many records. */
export interface BulkArguments {
  readonly inputs: BulkInputs;
  readonly access: Access;
  /** Null where `q` finds the rows. */
  readonly items: readonly BulkItem[] | null;
  /** Arguments of the write of each row that `q` finds; they have no key yet. */
  readonly each: RequestArguments | null;
}

/** Reads a request for many records. One for a single record is left to its own parser, with the body that was read. */
type BulkParser = (request: Request) => Promise<BulkArguments | RequestArguments>;

/** True for the arguments of a request for many records. */
export function isForMany(input: BulkArguments | RequestArguments): input is BulkArguments {
  return 'items' in input;
}

/**
 * The parser of an endpoint.
 *
 * @param hasSingle true where the same route takes a single record, too
 */
export function compileBulkParser(
  settings: ParserSettings,
  endpoint: BulkEndpoint,
  hasSingle: boolean,
): BulkParser {
  const { plan, features, access: evaluateAccess } = settings;
  const single = SINGLE_OF[endpoint];
  const filter = features.list.inputs.find(({ name }) => name === 'q');
  const readInputs = compileQueryReader(plan, bulkInputs(maxOf(plan), endpoint, filter));
  const evaluateNamed = compileNamedRules(settings, [], endpoint !== 'createMany');
  const parseBody = single === 'delete' ? null : compileBodyParser(settings, single, hasSingle);
  const { absentFor, inputs: singleInputs } = features[single];
  // Refused also where a resource ignores unknown parameters: one record must not be written for a `dry_run`.
  const refuseParameters = compileQueryReader(plan, []);
  const readHeaders = compileHeaderReader(singleInputs.filter(({ isForMany }) => isForMany));
  return async (request) => {
    const access = await evaluateAccess(request, single);
    const asked = await evaluateNamed?.(request, access.form);
    const inputs = readInputs(request.url, access, [], asked) as BulkInputs;
    const words = `names states of one ${plan.name}, and nothing was done; give each record its version, or leave it out.`;
    // A create finds no record.
    refuseCondition(request, words, single === 'create' ? ['If-Match'] : undefined);
    readHeaders(request, inputs, access);
    // A request that may not list must not learn by conditions which rows exist.
    if (inputs.filter) await evaluateAccess(request, 'list');
    const absent = absentFor(access.form);
    if (inputs.filter && plan.ifMatch === 'required') {
      throw new RefusedRequestError(
        428,
        `A change of ${withArticle(plan.name)} needs its version; send an array of records.`,
      );
    }
    if (!parseBody) {
      if (inputs.filter) return { inputs, access, items: null, each: { query: absent, access } };
      throw missingFilter('A delete of many records needs q.');
    }
    return parseBody(request, { inputs, access, absent }, () => refuseParameters(request.url, access));
  };
}

/** Parts of a request for many records that are read before its body. */
export interface BulkHead {
  readonly inputs: BulkInputs;
  readonly access: Access;
  readonly absent: Inputs;
}

function compileBodyParser(
  { plan, features, bodyLimit }: ParserSettings,
  kind: 'create' | 'update',
  hasSingle: boolean,
) {
  const limits = bodyLimits(plan, kind, bodyLimit);
  const listLimits = { ...limits, mediaTypes: ['application/json'] };
  const { forms, bodyMembers } = features[kind];
  const parseValues = compileValuesParser(plan, kind, forms);
  const parseWhole = withMembers(bodyMembers, (names) => compileValuesParser(plan, kind, forms, null, names));
  const parseItem = compileItemParser(plan, kind, parseWhole);
  return async (
    request: Request,
    { inputs, access, absent }: BulkHead,
    refuseParameters: () => void,
  ): Promise<BulkArguments | RequestArguments> => {
    const body = await readBody(request, inputs.filter ? limits : listLimits);
    if (inputs.filter) {
      const each = { query: absent, ...(await parseValues(request, access, body)) };
      return { inputs, access, items: null, each };
    }
    if (Array.isArray(body)) {
      checkLength(body, maxOf(plan));
      const items = await parseItems(request, { inputs, access, absent }, body, parseItem);
      const others = items.reduce((sum, { input }) => sum + (input?.query.otherRows ?? 0), 0);
      if (others > 0) checkLength({ length: body.length + others }, maxOf(plan), 'records');
      return { inputs, access, items, each: null };
    }
    if (hasSingle) {
      // Parameters of many records are refused for one, and writes of one have none.
      refuseParameters();
      const { query, ...parsed } = await parseWhole(request, access, body);
      return { query: query ? Object.freeze({ ...absent, ...query }) : absent, ...parsed };
    }
    if (kind === 'update')
      throw missingFilter('A change of many records needs q, or a body that is an array.');
    const detail = 'The body must be a JSON array.';
    throw new InvalidBodyError([{ pointer: '', code: 'isArray', detail }]);
  };
}

/** @throws InvalidBodyError, and the error of an item, where one fails all */
export async function parseItems(
  request: Request,
  { inputs, access, absent }: BulkHead,
  body: readonly unknown[],
  parse: ItemParser,
): Promise<readonly BulkItem[]> {
  const items: BulkItem[] = [];
  const keys = new Map<string, number>();
  const issues: RequestIssue[] = [];
  const budget = new MemberBudget(sentBody(request).length);
  for (const [index, each] of body.entries()) {
    const repeated = (key: RowKey, before: number) => {
      if (inputs.isAtomic) issues.push(withinItem(before, repeatedKey(key, index)));
      return repeatedKey(key, before);
    };
    const parsed = parse(request, { access, absent, index, keys, budget, repeated }, each);
    const item = isPromise(parsed) ? await parsed : parsed;
    items.push(item);
    if (!inputs.isAtomic || !(item.problem instanceof InvalidBodyError)) continue;
    issues.push(...item.problem.errors.map((issue) => withinItem(index, issue)));
    // Others are left out.
    if (issues.length > MAX_ISSUES) break;
  }
  if (!inputs.isAtomic) return items;
  if (issues.length > 0) throw new InvalidBodyError(issues);
  const refused = items.findIndex(({ problem }) => problem !== null);
  const { problem = null } = items[refused] ?? {};
  if (problem === null) return items;
  setCurrentItem(request, refused);
  throw problem;
}

/** @throws BodyError for an array without items, and one with too many */
export function checkLength(
  { length }: { readonly length: number },
  max: number,
  noun: 'items' | 'records' = 'items',
): void {
  if (length === 0)
    throw new BodyError(400, 'empty', 'The body is an array without items; send one at least.');
  if (length <= max) return;
  throw new BodyError(413, 'tooMany', `The body has ${length} ${noun}; at most ${max} are accepted.`);
}

function missingFilter(detail: string): InvalidQueryError {
  return new InvalidQueryError([{ parameter: 'q', code: 'required', detail }]);
}

/** @param words behind the name of the header @throws RefusedRequestError 412 for a condition on one record */
export function refuseCondition(
  request: Request,
  words: string,
  conditions = ['If-Match', 'If-None-Match'],
): void {
  const given = conditions.find((each) => request.get(each) !== undefined);
  if (given !== undefined) throw new RefusedRequestError(412, `${given} ${words}`);
}
