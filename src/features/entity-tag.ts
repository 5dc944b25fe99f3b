/** `ETag` (RFC 9110, 8.8): the state of a record, which a client can make the condition of a write, and by which caches identify it. */
import { hash, randomBytes } from 'node:crypto';
import type { EntityTagPlan, ResourcePlan } from '../compile/resource-plan.js';
import { idText } from '../describe/id-text.js';
import { lockOf } from '../describe/lock-column.js';
import { isFilled } from '../describe/model-info.js';
import { type AccessForm, OPEN_ACCESS } from '../operation/access.js';
import { compileAlso } from '../operation/compile-operation.js';
import {
  type AnswerDraft,
  type FeatureFactory,
  type HeaderDescription,
  NO_VERSION,
  type OperationResult,
  type WantedStates,
} from '../operation/feature.js';
import type { Selection } from '../operation/operation.js';
import { compared, equalTo } from '../operation/predicates.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import type { Predicate, Slot } from '../request/query/predicate.js';

/** A tag, or several of them; the first group is the mark of a weak tag, the second the text in the quotes. */
const TAG = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/** Form of a state, behind the letter of its kind. */
const STATE = /^([xt]?)(0|[1-9]\d{0,18})$/;

/** The letter of each kind. */
const LETTERS = { version: '', moment: 't', xmin: 'x' } as const;

/** Where the text of the one state that a condition names is found. */
export const WANTED_STATE: Slot = Object.freeze({ slot: 'state' });

/** True where a request may not read the version that the tags of a resource hold. */
export function hidesState(
  { kind, attribute, isHidden = false }: EntityTagPlan,
  { unreadable }: AccessForm,
): boolean {
  return kind === 'version' && (isHidden || unreadable.has(attribute));
}

/** The record that a tag is about. Keys that a database may take for one are one. */
export function taggedRecord({ name, info }: Pick<ResourcePlan, 'name' | 'info'>, id: unknown): string {
  return `${name}\0${String(idText(info.address, id)).toLowerCase().trimEnd()}`;
}

/** Behind the letter of a tag that hides its state. */
const SEALED = 's';

/** A tag where the request may not read the state. */
function sealedTag(sealed: string, suffix: string): string {
  return `"${SEALED}${sealed}${suffix && `.${suffix}`}"`;
}

/** The tag of a row in this state, in its quotes. NULL is a state of a version. */
function tagOf({ kind }: EntityTagPlan, state: string | null, suffix = ''): string {
  const text = kind === 'moment' && state !== null ? microsecondsOf(state) : state;
  return `"${text === null ? NO_VERSION : `${LETTERS[kind]}${text}`}${suffix && `.${suffix}`}"`;
}

/** True where a state has a tag. A moment such as infinity has none, and no state of a row is the lack of its transaction. */
function isTagged({ kind }: EntityTagPlan, state: string | null): boolean {
  if (state === null) return kind !== 'xmin';
  return kind !== 'moment' || microsecondsOf(state) !== null;
}

/** A moment as PostgreSQL writes it, from the year 1000 to 9999. */
const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?$/;

/** The microseconds of a moment since 1970, in any zone; those of the clock where it has none. Null for a text that is no such moment. */
function microsecondsOf(text: string): string | null {
  const [, year, month, day, hour, minute, second, fraction = '', sign, ...offset] = MOMENT.exec(text) ?? [];
  if (year === undefined) return null;
  const date = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const [hours = 0, minutes = 0, seconds = 0] = offset.map((each) => Number(each ?? 0));
  const east = (hours * 3600 + minutes * 60 + seconds) * (sign === '-' ? -1 : 1);
  return String(BigInt(Date.parse(date) - east * 1000) * 1000n + BigInt(fraction.padEnd(6, '0')));
}

/** The moment after so many microseconds, in UTC; a column without a zone takes its clock. Undefined beyond the year 9999. */
function momentOf(microseconds: string): string | undefined {
  const milliseconds = Number(BigInt(microseconds) / 1000n);
  if (milliseconds > LAST_MOMENT) return undefined;
  const rest = microseconds.slice(-3).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
}

const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59);

/** True where the wanted states include this one. */
export function isInState(states: WantedStates, state: string | null): boolean {
  if (states === null || states.includes(state ?? NO_VERSION)) return true;
  const moment = state === null ? null : microsecondsOf(state);
  return moment !== null && states.some((each) => microsecondsOf(each) === moment);
}

/** Reads tags that hide their states: undefined for a text that is none. */
type OpenState = (sealed: string) => bigint | null | undefined;

/**
 * Reads the tags of `If-Match`. A proxy that compresses an answer may have made its tag weak, and the part behind the dot
 * separates answers about the same state. Tags that are none of ours name no state.
 *
 * @param isHidden true where the request may not read the state: then a tag with it names none, or the answer would reveal it
 * @returns undefined for a text that is no list of tags
 */
export function readStates(
  plan: EntityTagPlan,
  header: string,
  isHidden = false,
  open: OpenState = () => undefined,
): WantedStates | undefined {
  if (header.trim() === '*') return null;
  const states: string[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < header.length) {
    const found = TAG.exec(header);
    if (!found) return undefined;
    const text = (found[2] ?? '').replace(/\..*/, '');
    const state = isHidden ? sealedStateOf(text, open) : stateOf(plan, text);
    if (state !== undefined) states.push(state);
  }
  return header === '' ? undefined : Object.freeze([...new Set(states)]);
}

function sealedStateOf(text: string, open: OpenState): string | undefined {
  const state = text.startsWith(SEALED) ? open(text.slice(SEALED.length)) : undefined;
  return state === undefined ? undefined : (state?.toString() ?? NO_VERSION);
}

function stateOf({ kind, maximum }: EntityTagPlan, text: string): string | undefined {
  if (kind !== 'xmin' && text === NO_VERSION) return NO_VERSION;
  const [, letter, state = ''] = STATE.exec(text) ?? [];
  if (letter !== LETTERS[kind]) return undefined;
  if (kind === 'moment') return momentOf(state);
  // PostgreSQL takes a number beyond the range of its column for an error.
  return BigInt(state) <= maximum ? state : undefined;
}

/** The rows in one of these states; null is any row. */
export function inState({ attribute }: EntityTagPlan, states: WantedStates): Predicate | null {
  if (states === null) return null;
  const values = states.filter((each) => each !== NO_VERSION);
  const [only, second] = values;
  // An empty list finds no row.
  const counted =
    only !== undefined && second === undefined
      ? equalTo(attribute, only)
      : compared(attribute, '=in=', values);
  if (values.length === states.length) return counted;
  const uncounted = compared(attribute, '=isnull=', ['true']);
  return only === undefined
    ? uncounted
    : Object.freeze({ kind: 'or', operands: Object.freeze([uncounted, counted]) });
}

type Tagged = Pick<ResourcePlan, 'name' | 'entityTag'>;

/** The refusal of a write whose condition does not hold: the row has another state. */
export function changedMeanwhile(
  plan: Tagged,
  state: string | null,
  form = OPEN_ACCESS.form,
): RefusedRequestError {
  const detail = `The ${plan.name} has been changed since; read it again, and repeat the change.`;
  return new RefusedRequestError(412, detail, headerOf(plan, state, form));
}

/** The same of a write for which there must be no row yet. */
export function alreadyThere(
  plan: Tagged,
  state: string | null,
  form = OPEN_ACCESS.form,
): RefusedRequestError {
  const detail = `The ${plan.name} is there already, and nothing was done.`;
  return new RefusedRequestError(412, detail, headerOf(plan, state, form));
}

/** The same of a write that needs a row. The message does not separate a missing row from one that the request may not write. */
export function notThere({ name }: Tagged): RefusedRequestError {
  return new RefusedRequestError(
    412,
    `There is no such ${name} that If-Match could be about, and nothing was done.`,
  );
}

function headerOf(
  { entityTag: plan }: Tagged,
  state: string | null,
  form: AccessForm,
): Readonly<Record<string, string>> {
  return plan !== null && isTagged(plan, state) && !hidesState(plan, form)
    ? { ETag: tagOf(plan, state) }
    : {};
}

const HEADER: Readonly<Record<string, HeaderDescription>> = {
  ETag: {
    description: 'The state of the record, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string' },
  },
};

/** Sets the lock column of a new row to 0. Null where the model or the table fills it in, or it may be NULL. */
function beginCount({ model, info }: ResourcePlan) {
  const lock = lockOf(model);
  const attribute = info.attributes.get(lock?.attribute ?? '');
  if (lock?.by !== 'us' || !attribute || attribute.nullable || attribute.hasDefault) return null;
  const { name } = attribute;
  return <O extends { readonly row: Readonly<Record<string, unknown>> }>(operation: O): O =>
    isFilled(attribute) || operation.row[name] !== undefined
      ? operation
      : { ...operation, row: { ...operation.row, [name]: 0 } };
}

/** Tags of single records, for resources that have tags. Lists keep the weak tag of their bytes. */
export const entityTag: FeatureFactory = ({ plan: resource, cursors }) => {
  const { entityTag: plan } = resource;
  const begin = beginCount(resource);
  // Repositories count, and have no tags.
  if (plan === null) return begin && { rewrite: { create: begin, replace: begin } };
  const also = compileAlso();
  const names = [plan.attribute];
  const select = <O extends { readonly select: Selection }>(operation: O): O => ({
    ...operation,
    select: also(operation.select, names),
  });
  const withReturning = <O extends { readonly returning: Selection }>(operation: O): O => ({
    ...operation,
    returning: also(operation.returning, names),
  });
  const present = (draft: AnswerDraft, result: OperationResult): AnswerDraft => {
    const state = result.stored(plan.attribute);
    // An override may answer with a value that is no record. A row without a version has a tag, too.
    if (state === undefined || !isTagged(plan, state)) return draft;
    const suffix = suffixOf(draft.body, result);
    const isSealed = result.form !== undefined && hidesState(plan, result.form);
    const ETag = isSealed
      ? sealedTag(cursors.states.seal(state, taggedRecord(resource, result.key())), suffix)
      : tagOf(plan, state, suffix);
    return { ...draft, headers: { ...draft.headers, ETag } };
  };
  return {
    rewrite: {
      read: select,
      create: (operation) => withReturning(begin ? begin(operation) : operation),
      update: withReturning,
      replace: (operation) => withReturning(begin ? begin(operation) : operation),
    },
    present: { read: present, create: present, update: present, replace: present },
    headers: { read: HEADER, create: HEADER, update: HEADER, replace: HEADER },
  };
};

/** One line for all resources whose tags hide a version, where the application has no secret for them. */
export function sealedTagWarnings(plans: readonly ResourcePlan[], cursorSecret: unknown): string[] {
  if (cursorSecret !== undefined) return [];
  const sealed = plans.filter(({ entityTag: tag, access }) => {
    const rule = tag && access?.fields.get(tag.attribute)?.read;
    return tag?.kind === 'version' && (tag.isHidden === true || (rule ?? true) !== true);
  });
  if (sealed.length === 0) return [];
  return [
    `Tags of ${sealed.map(({ name }) => name).join(', ')} hide a version that requests may not read, with a secret of this process ` +
      'alone; set cursorSecret in bootstrap, so that other processes read them, too.',
  ];
}

const PROCESS = randomBytes(6).toString('base64url');
let answers = 0;

/**
 * Distinguishes answers about the same state: a strong tag promises the same bytes (RFC 9110, 8.8.1). Code that may
 * still change an answer could change it in any way, so that no two have the same tag.
 */
function suffixOf(body: unknown, { isOfRow, isFinal }: OperationResult): string {
  if (isOfRow) return '';
  if (!isFinal) {
    answers += 1;
    return `${PROCESS}${answers.toString(36)}`;
  }
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  return hash('sha1', text, 'base64url');
}
