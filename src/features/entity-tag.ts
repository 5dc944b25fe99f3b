/** `ETag`: the state of a record, which a client can make the condition of a write, and by which caches know it again. */
import { hash, randomBytes } from 'node:crypto';
import { entityTag as tagOf } from '../operation/entity-tag.js';
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
export const entityTag: FeatureFactory = ({ plan: { entityTag: plan } }) => {
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
    const ETag = tagOf(plan, state, suffixOf(draft.body, result));
    return { ...draft, headers: { ...draft.headers, ETag } };
  };
  return {
    rewrite: { read: select, create: giveBack, update: giveBack, restore: giveBack, replace: giveBack },
    present: { read: present, create: present, update: present, restore: present, replace: present },
    headers: { read: HEADER, create: HEADER, update: HEADER, restore: HEADER, replace: HEADER },
  };
};

const PROCESS = randomBytes(6).toString('base64url');
let answers = 0;

/**
 * What tells answers about the same state apart: a strong tag promises the same bytes (RFC 9110, 8.8.1). Code that may still
 * change an answer could change it in any way, so that no two have the same tag.
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
