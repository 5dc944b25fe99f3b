/** Parses one of many records in a body into the arguments of its write, or into its issues. */

import type { Request } from 'express';
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { RowKey } from '../../describe/model-info.js';
import { idOf, keyNames, keyText } from '../../describe/row-key.js';
import { noSuchRecord } from '../../errors/errors.js';
import type { Access } from '../../operation/access.js';
import { type Inputs, NO_VERSION } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { ParsedValues, RequestArguments, ValuesParser } from '../../request/parse-request.js';
import { tryParseId } from '../../request/read-id.js';
import type { MemberBudget } from '../../schema/json-value.js';
import { bodyPointer, InvalidBodyError, type RequestIssue, withinItem } from '../../schema/request-issue.js';
import { isPromise, type Maybe } from '../../util/promises.js';
import { withArticle } from '../../util/with-article.js';
import { without } from '../../util/without.js';
import { hidesState } from '../entity-tag.js';

/** An item of a body: its values, or its problems. */
export interface BulkItem {
  /** The item as it was sent. */
  readonly body: unknown;
  /** Null where the item is wrong. */
  readonly input: RequestArguments | null;
  /** The problem, with pointers into the item. */
  readonly problem: Error | null;
}

interface ItemContext {
  readonly access: Access;
  /** Inputs of a single write without parameters. */
  readonly absent: Inputs;
  /** From 0. */
  readonly index: number;
  /** Places of earlier items, by their keys. */
  readonly keys: Map<string, number>;
  /** The budget of all items. */
  readonly budget: MemberBudget;
  /** True where a wrong item is left out, so that a later one may have its key. Default: false. */
  readonly isLeftOut?: boolean;
  /** Makes the issue of an item whose key an earlier one has. @param before place of that one, as `keys` has it */
  readonly repeated: (key: RowKey, before: number) => RequestIssue;
}

/** Reads an item. */
export type ItemParser = (request: Request, context: ItemContext, body: unknown) => Maybe<BulkItem>;

const MAX_VERSION = 2_147_483_647;

/**
 * Compiles the reader of items.
 *
 * @param given the attribute that all items get from their parent; null where they have none
 */
export function compileItemParser(
  plan: ResourcePlan,
  kind: 'create' | 'update',
  parseValues: ValuesParser,
  given: string | null = null,
): ItemParser {
  const { primaryKey, address } = plan.info;
  const key = (kind === 'update' ? address : primaryKey).filter(({ name }) => name !== given);
  const readHead = kind === 'update' ? compileHead(plan, given) : null;
  return (request, context, body) => {
    const { access, absent, budget } = context;
    const issues: RequestIssue[] = [];
    if (!isPlain(body)) return wrongItem(body, NO_OBJECT);
    const sent = body as Readonly<Record<string, unknown>>;
    const isHidden = plan.entityTag !== null && hidesState(plan.entityTag, access.form);
    const head = readHead?.(sent, issues, isHidden);
    const rest = head ? without(sent, head.names) : sent;
    const finish = (parsed: ParsedValues | null): BulkItem => {
      const text = textOfParts(head ? head.parts : key.map(({ name }) => parsed?.values[name]));
      const isWrong = issues.length > 0 || !parsed;
      if (!isWrong || !context.isLeftOut) issues.push(...repeatedIssues(context, key, text));
      if (issues.length > 0 || !parsed) return wrongItem(body, issues);
      if (head?.refusal) return { body, input: null, problem: head.refusal };
      const { values, access: granted, query: own } = parsed;
      const states = head?.states ? { ifMatch: head.states } : null;
      const query = states || own ? Object.freeze({ ...absent, ...own, ...states }) : absent;
      return { body, input: { query, access: granted, id: head?.id, values }, problem: null };
    };
    const refuse = (error: unknown): BulkItem => {
      if (!(error instanceof InvalidBodyError)) throw error;
      issues.push(...error.errors);
      return finish(null);
    };
    try {
      const parsed = parseValues(request, access, rest, budget);
      return isPromise(parsed) ? parsed.then(finish, refuse) : finish(parsed);
    } catch (error) {
      return refuse(error);
    }
  };
}

/** Issues of an item that is no object. */
export const NO_OBJECT: readonly RequestIssue[] = [
  { pointer: '', code: 'isObject', detail: 'An item must be a JSON object.' },
];

/** An item that is refused. */
export function wrongItem(body: unknown, errors: readonly RequestIssue[]): BulkItem {
  return { body, input: null, problem: new InvalidBodyError(errors) };
}

/** The issue of an item whose key an earlier one has. @param text the key; undefined where it cannot be compared */
export function repeatedIssues(
  { keys, index, repeated }: Pick<ItemContext, 'keys' | 'index' | 'repeated'>,
  key: RowKey,
  text: string | undefined,
): readonly RequestIssue[] {
  const before = text === undefined ? undefined : keys.get(text);
  if (before !== undefined) return [repeated(key, before)];
  if (text !== undefined) keys.set(text, index);
  return [];
}

/** The issues of two items of a body that are about one record. */
export function repeatedItems(key: RowKey, first: number, second: number): readonly RequestIssue[] {
  return [withinItem(first, repeatedKey(key, second)), withinItem(second, repeatedKey(key, first))];
}

/** Issue of an item whose record is also that of another item. */
export function repeatedKey(key: RowKey, other: number, place = 'item'): RequestIssue {
  const detail = `${keyText(key)} is that of the ${place} ${other}, too; a record may stand in a body once.`;
  const [first, ...more] = keyNames(key);
  return {
    pointer: first !== undefined && more.length === 0 ? bodyPointer(first) : '',
    code: 'repeated',
    detail,
  };
}

interface ItemHead {
  /** Members of the item that are no values. */
  readonly names: readonly string[];
  /** Of several parts one that is given by a parent is missing. */
  readonly id: unknown;
  /** The parts of the id; undefined is one that is wrong. */
  readonly parts: readonly unknown[];
  /** The version that the record has to have. */
  readonly states: readonly string[] | null;
  readonly refusal: Error | null;
}

/**
 * Reads which record an item is about, and in which state that has to be.
 *
 * @param given the attribute that it gets from its parent. Parts of ids may be texts of paths then
 */
export function compileHead(plan: ResourcePlan, given: string | null = null) {
  const { entityTag, ifMatch, info } = plan;
  const { address } = info;
  const parts = plan.idParts.filter(({ attribute: { name } }) => name !== given);
  const version = entityTag?.kind === 'version' ? entityTag.attribute : null;
  const isText = info.attributes.get(version ?? '')?.type.kind === 'bigint';
  return (sent: Readonly<Record<string, unknown>>, issues: RequestIssue[], isHidden: boolean): ItemHead => {
    const wrong = (name: string, code: string, detail: string) =>
      void issues.push({ pointer: bodyPointer(name), code, detail });
    // The answer to a guess would reveal a version that the request may not read.
    const states =
      version !== null && !isHidden && Object.hasOwn(sent, version)
        ? readVersion(sent[version], isText)
        : null;
    if (states === undefined) wrong(String(version), 'isInt', `${version} must be an integer from 0.`);
    let refusal: Error | null = null;
    if (states === null && ifMatch === 'required') {
      refusal = new RefusedRequestError(
        428,
        isHidden
          ? `A change of ${withArticle(plan.name)} needs its ${version}, which this request may not read; change one record at a time, with If-Match.`
          : `A change of ${withArticle(plan.name)} needs its ${version}, which a read of it has given.`,
      );
    }
    const values = parts.map(({ attribute: { name: key }, kind, parseId }) => {
      const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
      const isNumber = kind === 'integer';
      const isFitting =
        typeof value === (isNumber ? 'number' : 'string') ||
        (kind === 'custom' && isExact(value)) ||
        (kind === 'value' && typeof value === 'boolean') ||
        (given !== null && (typeof value === 'string' || isExact(value)));
      const parsed = isFitting ? tryParseId({ parseId }, String(value)) : null;
      if (value === undefined) wrong(key, 'isDefined', `${key} is required.`);
      else if (!parsed) wrong(key, 'id', `${key} must be a ${isNumber ? 'number' : 'text'}.`);
      else if (parsed.kind === 'malformed') wrong(key, 'id', `${key} must be ${parsed.expected}.`);
      else if (parsed.kind === 'impossible')
        refusal = noSuchRecord({ name: plan.name, key: keyText(address) });
      return parsed?.kind === 'id' ? parsed.value : undefined;
    });
    const isWhole = !values.includes(undefined);
    const id = isWhole
      ? idOf(address, (name) => values[parts.findIndex(({ attribute }) => attribute.name === name)])
      : undefined;
    const shown = version === null || isHidden ? [] : [version];
    const names = [...parts.map(({ attribute }) => attribute.name), ...shown];
    return { names, id, parts: values, states: states ?? null, refusal };
  };
}

/** True for a number that is as it was sent. One beyond 2^53 may be a rounded one, and the id of another record. */
export function isExact(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** @param isText true where answers have a text, as of a bigint */
function readVersion(value: unknown, isText: boolean): readonly string[] | undefined {
  // A row without a version shows null.
  if (value === null) return NO_VERSIONS;
  if (isText && typeof value === 'string' && /^(?:0|[1-9]\d{0,17})$/.test(value))
    return Object.freeze([value]);
  const isVersion = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_VERSION;
  return isVersion ? Object.freeze([String(value)]) : undefined;
}

const NO_VERSIONS = Object.freeze([NO_VERSION]);

/** By which keys of several parts are compared; undefined where a part is none. */
export function textOfParts(parts: readonly unknown[]): string | undefined {
  const texts = parts.map(textOf);
  if (texts.includes(undefined)) return undefined;
  return texts.length === 1 ? texts[0] : JSON.stringify(texts);
}

/** By which parts are compared; undefined where there is none. */
function textOf(key: unknown): string | undefined {
  return typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint'
    ? String(key)
    : undefined;
}
