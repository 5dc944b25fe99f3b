/** Entity tags (RFC 9110, 8.8): the state of a row, as clients name it. */
import type { EntityTagPlan, ResourcePlan } from '../plan/resource-plan.js';
import type { Predicate, Slot } from './operation.js';
import { equalTo } from './predicates.js';
import { RefusedRequestError } from './refused-request-error.js';

/** A tag, or several of them; the first group is whether it is weak, the second what stands in the quotes. */
const TAG = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/** What a state can be, behind the letter of its kind. */
const STATE = /^(x?)(0|[1-9]\d{0,18})$/;

/** The states of a row that a condition names, in the text form of the column; null is any. */
export type WantedStates = readonly string[] | null;

/** Where the text of the one state that a condition names is found. */
export const WANTED_STATE: Slot = Object.freeze({ slot: 'state' });

/** The tag of a row in this state, in its quotes. */
export function entityTag({ kind }: EntityTagPlan, state: string, suffix = ''): string {
  return `"${kind === 'xmin' ? 'x' : ''}${state}${suffix && `.${suffix}`}"`;
}

/**
 * Reads the tags of `If-Match`. A proxy that compresses an answer may have made its tag weak, and what stands behind the dot
 * tells answers about the same state apart. Tags that are none of ours name no state.
 *
 * @returns undefined for what is no list of tags
 */
export function readStates(plan: EntityTagPlan, header: string): WantedStates | undefined {
  if (header.trim() === '*') return null;
  const states: string[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < header.length) {
    const found = TAG.exec(header);
    if (!found) return undefined;
    const state = stateOf(plan, (found[2] ?? '').replace(/\..*/, ''));
    if (state !== undefined) states.push(state);
  }
  return header === '' ? undefined : Object.freeze([...new Set(states)]);
}

function stateOf({ kind, maximum }: EntityTagPlan, text: string): string | undefined {
  const [, letter, state = ''] = STATE.exec(text) ?? [];
  if (letter !== (kind === 'xmin' ? 'x' : '')) return undefined;
  // PostgreSQL takes a number beyond the range of its column for an error.
  return BigInt(state) <= maximum ? state : undefined;
}

/** The rows in one of these states; null is any row. */
export function inState({ attribute }: EntityTagPlan, states: WantedStates): Predicate | null {
  if (states === null) return null;
  const [only, second] = states;
  // No row is without a state.
  if (only === undefined) {
    return Object.freeze({
      kind: 'comparison',
      attribute,
      operator: '=isnull=',
      values: Object.freeze(['true']),
    });
  }
  if (second === undefined) return equalTo(attribute, only);
  return Object.freeze({ kind: 'comparison', attribute, operator: '=in=', values: states });
}

type Tagged = Pick<ResourcePlan, 'name' | 'entityTag'>;

/** The refusal of a write whose condition does not hold: the row has another state. */
export function changedMeanwhile(plan: Tagged, state: string | null): RefusedRequestError {
  const detail = `The ${plan.name} has been changed since; read it again, and repeat the change.`;
  return new RefusedRequestError(412, detail, headerOf(plan, state));
}

/** The same of a write for which there must be no row yet. */
export function alreadyThere(plan: Tagged, state: string | null): RefusedRequestError {
  const detail = `The ${plan.name} is there already, and nothing was done.`;
  return new RefusedRequestError(412, detail, headerOf(plan, state));
}

/** The same of a write for which there has to be a row: none that the request may write is told from none at all. */
export function notThere({ name }: Tagged): RefusedRequestError {
  return new RefusedRequestError(
    412,
    `There is no such ${name} that If-Match could be about, and nothing was done.`,
  );
}

function headerOf({ entityTag: plan }: Tagged, state: string | null): Readonly<Record<string, string>> {
  return plan === null || state === null ? {} : { ETag: entityTag(plan, state) };
}
