/** `ETag`: the state of a record, which a client can make the condition of a write, and by which caches know it again. */
import { hash, randomBytes } from 'node:crypto';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { hidesState, sealedTag, taggedRecord, entityTag as tagOf } from '../operation/entity-tag.js';
import type {
  AnswerDraft,
  FeatureFactory,
  HeaderDescription,
  OperationResult,
} from '../operation/feature.js';
import type { Selection } from '../operation/operation.js';
import { compileAlso } from '../operation/selection.js';

const HEADER: Readonly<Record<string, HeaderDescription>> = {
  ETag: {
    description: 'The state of the record, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string' },
  },
};

/** Of single records, for resources that have tags. Lists keep the weak tag of their bytes. */
export const entityTag: FeatureFactory = ({ plan: resource, cursors }) => {
  const { entityTag: plan } = resource;
  if (plan === null) return null;
  const also = compileAlso();
  const names = [plan.attribute];
  const select = <O extends { readonly select: Selection }>(operation: O): O => ({
    ...operation,
    select: also(operation.select, names),
  });
  const giveBack = <O extends { readonly returning: Selection }>(operation: O): O => ({
    ...operation,
    returning: also(operation.returning, names),
  });
  const present = (draft: AnswerDraft, result: OperationResult): AnswerDraft => {
    const state = result.stored(plan.attribute);
    // An override may answer what is no record. A row without a version has a tag, too.
    if (state === undefined || (state === null && plan.kind === 'xmin')) return draft;
    const suffix = suffixOf(draft.body, result);
    const isSealed = result.form !== undefined && hidesState(plan, result.form);
    const ETag = isSealed
      ? sealedTag(cursors.states.seal(state, taggedRecord(resource, result.key())), suffix)
      : tagOf(plan, state, suffix);
    return { ...draft, headers: { ...draft.headers, ETag } };
  };
  return {
    rewrite: { read: select, create: giveBack, update: giveBack, restore: giveBack, replace: giveBack },
    present: { read: present, create: present, update: present, restore: present, replace: present },
    headers: { read: HEADER, create: HEADER, update: HEADER, restore: HEADER, replace: HEADER },
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
