/** A request that changes links -> its access to both sides, and the links that it names. */
import type { Request } from 'express';
import { guarded } from '../../access/evaluate-rules.js';
import { relatedAccess } from '../../access/related-access.js';
import { isPlain } from '../../compile/compile-options.js';
import { NO_SCHEMAS, type SubresourcePlan } from '../../compile/resource-plan.js';
import type { Resource } from '../../express/resources/resource.js';
import type { Access, AccessForm } from '../../operation/access.js';
import { compileHeaderReader, compileQueryReader } from '../../operation/compile-features.js';
import type { Input, Inputs } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RelatedAccess } from '../../operation/related-rows.js';
import { checkOwner } from '../../postgres/index.js';
import { hasBody, readBody, sentBody } from '../../request/read-body.js';
import { parsePathId, tryParseId } from '../../request/read-id.js';
import { bodySchema, parseBody } from '../../schema/body-schema.js';
import type { BodyValues } from '../../schema/body-values.js';
import { MemberBudget } from '../../schema/json-value.js';
import { describeExposure } from '../../schema/model-decorators.js';
import { InvalidBodyError, type RequestIssue, withinItem } from '../../schema/request-issue.js';
import { DRY_RUN } from '../bulk/bulk-options.js';
import { checkLength, refuseCondition } from '../bulk/parse-bulk.js';
import { choice } from '../flag.js';
import { isHidden } from '../include-names.js';
import { describePairs, type LinkPlan, linkAttributes, MAX_REPLACED } from './link-options.js';

/** Work on the links of a record: one is set or removed, many are added, or all are replaced. */
export type LinkWork = 'link' | 'unlink' | 'add' | 'replace';

/** The links of a relation at work. */
export interface Links {
  readonly below: SubresourcePlan;
  readonly link: LinkPlan;
  readonly parent: Resource;
  readonly target: Resource;
}

/** A link that a request names. */
export interface LinkItem {
  /** The id of the target; undefined for one that no row can have. */
  readonly id: unknown;
  /** Attributes of the link that are set. */
  readonly values: Readonly<BodyValues>;
}

/** Values of the parameters and headers. */
interface LinkInputs extends Inputs {
  readonly isDryRun: boolean;
  readonly missing?: 'ok';
}

/** Arguments of a request. */
export interface LinkArguments {
  readonly inputs: LinkInputs;
  readonly id: unknown;
  /** To the record. */
  readonly access: Access;
  readonly related: RelatedAccess;
  /** To the children of a `hasMany`, which are changed; null for those of a join model. */
  readonly child: Access | null;
  readonly items: readonly LinkItem[];
}

/** The rules of `can` of the option that hold for a work. */
const RULES = { link: ['add'], unlink: ['remove'], add: ['add'], replace: ['add', 'remove'] } as const;

const MISSING = choice(
  'missing',
  {
    description: 'With `ok` a link that is not there is no error.',
    allowed: ['ok'],
    code: 'missing.unknown',
  },
  undefined,
);

/** The query parameters of a work. */
export function linkInputs(work: LinkWork): readonly Input[] {
  return work === 'unlink' ? [MISSING, DRY_RUN] : [DRY_RUN];
}

/** The headers of a work. */
export function linkHeaders({ features }: Pick<Resource, 'features'>, touch: boolean, work: LinkWork) {
  const { inputs } = features.update;
  const shared = inputs.filter(({ in: place, isForMany }) => place === 'header' && isForMany);
  const ifMatch = touch ? inputs.filter(({ member }) => member === 'ifMatch') : [];
  const onlyNew = features.replace.inputs.filter(({ member }) => member === 'onlyNew');
  return [...shared, ...ifMatch, ...(work === 'link' ? onlyNew : [])];
}

/** Compiles the parser of a work. */
export function compileLinkParser(links: Links, work: LinkWork) {
  const { below, link, parent, target } = links;
  const { plan } = parent;
  const { relation } = below;
  const readQuery = compileQueryReader(plan, linkInputs(work));
  const readHeaders = compileHeaderReader(linkHeaders(parent, link.touch, work));
  const refused = [...(link.touch ? [] : ['If-Match']), ...(work === 'link' ? [] : ['If-None-Match'])];
  // A link is about one record of the target, whose read it needs.
  const one = Object.freeze({ ...below, relation: Object.freeze({ ...relation, isOne: true }) });
  const own = RULES[work].map((name) => link.can[name]);
  const parseItems = compileItems(links, work);
  const accessOf = async (request: Request): Promise<Access> => {
    const answers = await Promise.all(
      own.map((rule) => (typeof rule === 'function' ? guarded(rule, request) : rule)),
    );
    if (answers.some((answer, index) => own[index] !== null && answer !== true))
      throw new RefusedRequestError(403, `This request may not change the links of ${plan.name}.`);
    return parent.access(request, own.includes(null) ? 'links' : null);
  };
  return async (request: Request): Promise<LinkArguments> => {
    checkOwner(target.plan.model, target.plan.model.sequelize);
    const access = await accessOf(request);
    const related = await relatedAccess(request, one);
    const child = relation.through ? null : await target.access(request, 'update');
    if (isHidden(below, access.form, related) || (child && isClosed(child.form, relation.targetKey)))
      throw new RefusedRequestError(403, `This request may not change ${relation.name} of ${plan.name}.`);
    const query = readQuery(request.url, access);
    const id = parsePathId(plan, request);
    refuseCondition(
      request,
      'names a state that links do not have, and nothing was done; leave it out.',
      refused,
    );
    const inputs = readHeaders(request, query, access, id) as LinkInputs;
    return { inputs, id, access, related, child, items: await parseItems(request) };
  };
}

/** True for an attribute that requests of a form do not write. */
function isClosed({ unwritable, scope, given }: AccessForm, name: string): boolean {
  return unwritable.has(name) || scope.has(name) || given.has(name);
}

function compileItems({ below, link, parent, target }: Links, work: LinkWork) {
  const { bodyLimit } = parent;
  const limits = { limit: bodyLimit, mediaTypes: ['application/json'] };
  const parseValues = compileAttributes(below, link);
  return async (request: Request): Promise<readonly LinkItem[]> => {
    if (work === 'link' || work === 'unlink') {
      const raw = String(request.params['target']);
      const parsed = tryParseId(target.plan, raw);
      // Its error describes an id.
      const id = parsed.kind === 'malformed' ? parsePathId(target.plan, request, 'target') : idOf(parsed);
      const body = work === 'link' && hasBody(request) ? await readBody(request, limits) : {};
      return [{ id, values: await parseValues(body) }];
    }
    const body = await readBody(request, limits);
    if (!Array.isArray(body))
      throw new InvalidBodyError([
        { pointer: '', code: 'isArray', detail: 'The body must be a JSON array.' },
      ]);
    if (work === 'add' || body.length > 0) checkLength(body, work === 'add' ? link.max : MAX_REPLACED);
    const issues: RequestIssue[] = [];
    const items: LinkItem[] = [];
    const budget = new MemberBudget(sentBody(request).length);
    for (const [index, each] of body.entries()) {
      const found = await parseItem(each, target, (rest) => parseValues(rest, budget));
      if (Array.isArray(found)) issues.push(...found.map((issue) => withinItem(index, issue)));
      else items.push(found as LinkItem);
    }
    if (issues.length > 0) throw new InvalidBodyError(issues);
    return items;
  };
}

async function parseItem(
  body: unknown,
  { plan }: Resource,
  parseValues: (rest: object) => Promise<Readonly<BodyValues>>,
): Promise<LinkItem | readonly RequestIssue[]> {
  if (!isPlain(body))
    return [
      { pointer: '', code: 'isObject', detail: 'Each item must be a JSON object with the id of a record.' },
    ];
  const { id, ...rest } = body as Readonly<Record<string, unknown>>;
  const parsed = isIdValue(plan, id) ? tryParseId(plan, String(id)) : MALFORMED;
  const issues: RequestIssue[] = [];
  if (parsed.kind === 'malformed')
    issues.push({
      pointer: '/id',
      code: 'id',
      detail: `id must be ${parsed.expected}, as a text or as the record has it.`,
    });
  try {
    const values = await parseValues(rest);
    if (issues.length === 0) return { id: idOf(parsed), values };
  } catch (error) {
    if (!(error instanceof InvalidBodyError)) throw error;
    issues.push(...error.errors);
  }
  return issues;
}

/** True for a text as in paths, and for the value that the record has. A number of JSON that is rounded would name another record. */
function isIdValue({ idKind }: Resource['plan'], id: unknown): boolean {
  if (typeof id === 'number')
    return (
      (idKind === 'integer' || idKind === 'custom') && (!Number.isInteger(id) || Number.isSafeInteger(id))
    );
  return typeof id === 'string' || (idKind === 'value' && typeof id === 'boolean');
}

const MALFORMED = { kind: 'malformed', expected: 'the id of a record' } as const;

function idOf(parsed: ReturnType<typeof tryParseId>): unknown {
  return parsed.kind === 'id' ? parsed.value : undefined;
}

/** The parser of the attributes of a link: those that are sent, by the rules of the join model for changes. */
function compileAttributes(below: SubresourcePlan, { fields }: LinkPlan) {
  if (!below.through) return parseNone;
  const info = describePairs(below);
  const offered = new Set(linkAttributes(below, fields).map(({ name }) => name));
  const others = [...info.attributes.keys()].filter((name) => !offered.has(name));
  const exposure = describeExposure(info, () => {});
  const schema = bodySchema(
    { model: info.model, info, exposure, explicitSchemas: NO_SCHEMAS },
    'update',
    new Set(others),
  );
  return async (body: unknown, budget?: MemberBudget): Promise<Readonly<BodyValues>> =>
    parseBody(schema, body, budget);
}

async function parseNone(body: unknown): Promise<Readonly<BodyValues>> {
  const [name] = Object.keys(Object(body));
  if (isPlain(body) && name === undefined) return {};
  throw new InvalidBodyError([
    {
      pointer: name === undefined ? '' : `/${name}`,
      code: 'unknownProperty',
      detail: 'These links have no properties.',
    },
  ]);
}
