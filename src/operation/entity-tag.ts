/** Entity tags (RFC 9110, 8.8): the state of a row, as clients name it. */
import type { EntityTagPlan, ResourcePlan } from '../compile/resource-plan.js';
import type { Predicate, Slot } from '../request/query/predicate.js';
import { type AccessForm, OPEN_ACCESS } from './access.js';
import { equalTo } from './predicates.js';
import { RefusedRequestError } from './refused-request-error.js';

/** A tag, or several of them; the first group is whether it is weak, the second what stands in the quotes. */
const TAG = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/** Form of a state, behind the letter of its kind. */
const STATE = /^(x?)(0|[1-9]\d{0,18})$/;

/** The state of a row without a version: its tag is that of no other state, and its first write gives it one. */
export const NO_VERSION = 'null';

/** The states of a row that a condition names, in the text form of the column, or `NO_VERSION`; the list null is any. */
export type WantedStates = readonly string[] | null;

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
export function taggedRecord({ name }: Pick<ResourcePlan, 'name'>, key: unknown): string {
  return `${name}\0${String(key).toLowerCase().trimEnd()}`;
}

/** Behind the letter of a tag that hides its state. */
const SEALED = 's';

/** The same where the request may not read the state. */
export function sealedTag(sealed: string, suffix: string): string {
  return `"${SEALED}${sealed}${suffix && `.${suffix}`}"`;
}

/** The tag of a row in this state, in its quotes. NULL is a state of a version. */
export function entityTag({ kind }: EntityTagPlan, state: string | null, suffix = ''): string {
  return `"${kind === 'xmin' ? 'x' : ''}${state ?? NO_VERSION}${suffix && `.${suffix}`}"`;
}

/** True where the wanted states include this one. */
export function isInState(states: WantedStates, state: string | null): boolean {
  return states === null || states.includes(state ?? NO_VERSION);
}

/** Reads tags that hide their states: undefined for a text that is none. */
export type OpenState = (sealed: string) => bigint | null | undefined;

/**
 * Reads the tags of `If-Match`. A proxy that compresses an answer may have made its tag weak, and what stands behind the dot
 * tells answers about the same state apart. Tags that are none of ours name no state.
 *
 * @param isHidden whether the request may not read the state: then a tag with it names none, or the answer would tell it
 * @returns undefined for what is no list of tags
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
  if (kind === 'version' && text === NO_VERSION) return NO_VERSION;
  const [, letter, state = ''] = STATE.exec(text) ?? [];
  if (letter !== (kind === 'xmin' ? 'x' : '')) return undefined;
  // PostgreSQL takes a number beyond the range of its column for an error.
  return BigInt(state) <= maximum ? state : undefined;
}

/** The rows in one of these states; null is any row. */
export function inState({ attribute }: EntityTagPlan, states: WantedStates): Predicate | null {
  if (states === null) return null;
  const values = Object.freeze(states.filter((each) => each !== NO_VERSION));
  const [only, second] = values;
  // An empty list finds no row.
  const counted: Predicate =
    only !== undefined && second === undefined
      ? equalTo(attribute, only)
      : Object.freeze({ kind: 'comparison', attribute, operator: '=in=', values });
  if (values.length === states.length) return counted;
  const uncounted = hasNone(attribute);
  return only === undefined
    ? uncounted
    : Object.freeze({ kind: 'or', operands: Object.freeze([uncounted, counted]) });
}

/** The rows in the one state that a condition names. */
export function inWantedState({ attribute }: EntityTagPlan): Predicate {
  return equalTo(attribute, WANTED_STATE);
}

function hasNone(attribute: string): Predicate {
  const values = Object.freeze(['true']);
  return Object.freeze({ kind: 'comparison', attribute, operator: '=isnull=', values });
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

/** The same of a write for which there has to be a row: none that the request may write is told from none at all. */
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
  const isTagged = plan !== null && (state !== null || plan.kind === 'version') && !hidesState(plan, form);
  return isTagged ? { ETag: entityTag(plan, state) } : {};
}
