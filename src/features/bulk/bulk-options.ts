/**
 * The option `bulk` of `@Crud`, with the options that have to fit it; and the parameters of its requests: `atomic`, `dry_run`, and
 * with `q` `max_affected`.
 */
import { filterEntries } from '../../compile/compile-filters.js';
import { isPlain, type OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { featureOption, type ResourcePlan } from '../../compile/resource-plan.js';
import { BULK_ENDPOINTS, type BulkEndpoint } from '../../declare/endpoint.js';
import type { Input, Inputs } from '../../operation/feature.js';
import type { Filter } from '../../request/query/predicate.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';
import { flag } from '../flag.js';
import { readInteger } from '../paging.js';

const DEFAULT_MAX = 100;
const HIGHEST_MAX = 1000;

/** Compiles the option to the most records of a request. */
export function compileMax(value: unknown, { report }: OptionCheck): number {
  if (!isPlain(value)) {
    report(`bulk is ${showValue(value)}; use an object such as { max: 500 }.`);
    return DEFAULT_MAX;
  }
  const { max = DEFAULT_MAX } = value as { max?: number };
  unknownOptions('bulk', value as object, ['max']).forEach(report);
  if (!Number.isInteger(max) || max < 1 || max > HIGHEST_MAX) {
    report(`bulk.max is ${showValue(max)}; use an integer from 1 to ${HIGHEST_MAX}.`);
  }
  return max;
}

/** The most records of a request. */
export const maxOf = featureOption<number>('bulk', DEFAULT_MAX);

/** Problems of options that hold for one record, and cannot hold for many. */
export const checkBulk: ResourceCheck = ({ endpoints, entityTag, ifMatch, features }, options) => {
  const problems: string[] = [];
  const refuse = (endpoint: BulkEndpoint, reason: string) => {
    if (endpoints.has(endpoint)) problems.push(`endpoints has '${endpoint}', and ${reason}`);
  };
  if (filterEntries(options.filterAllow ?? []).length === 0)
    refuse(
      'deleteMany',
      'filterAllow names nothing that q could be about; name an attribute there, or leave it out.',
    );
  if (
    features['bulk'] !== undefined &&
    ![...BULK_ENDPOINTS, 'upsert' as const].some((each) => endpoints.has(each))
  )
    problems.push(
      `bulk limits no endpoint; name 'createMany', 'updateMany', 'deleteMany' or 'upsert' in endpoints, or leave it out.`,
    );
  if (ifMatch !== 'required') return problems;
  refuse(
    'deleteMany',
    "ifMatch is 'required'; what is deleted by q has no tags to name. Leave one of both out.",
  );
  if (entityTag?.kind !== 'version' || entityTag.isHidden) {
    const mend = entityTag?.isHidden
      ? ', and no answer shows it. Show it, or leave one of both out.'
      : '. Give its @Table version: true.';
    refuse(
      'updateMany',
      `ifMatch is 'required'; the records of a request name their states by a version${mend}`,
    );
  }
  return problems;
};

/** Values of the parameters, and the rows of the body. */
export interface BulkInputs extends Inputs {
  /** The rows; null where the body has the keys. */
  readonly filter: Filter | null;
  readonly isAtomic: boolean;
  readonly isDryRun: boolean;
  /** Rows that `filter` may find; undefined where the request does not say. */
  readonly maxAffected?: number;
}

/** The parameter of a write that is undone again. */
export const DRY_RUN = flag(
  'dry_run',
  'isDryRun',
  false,
  'Whether all is undone again. The answer is the same. Default: false.',
);

/** Rows that a filter may find where the request does not say, and `bulk.max` is not lower. */
const DEFAULT_MAX_AFFECTED = 100;

/**
 * The parameters of an endpoint. No feature takes part in them, so that each is in this list or is refused.
 *
 * @param max records in a request
 * @param filter `q`, as lists have it
 */
export function bulkInputs(max: number, endpoint: BulkEndpoint, filter: Input | undefined): readonly Input[] {
  const flags = [
    flag(
      'atomic',
      'isAtomic',
      true,
      'Whether one record that is refused undoes all. With `false` each has a status of its own. Default: true.',
    ),
    DRY_RUN,
  ];
  if (endpoint === 'createMany' || !filter) return flags;
  return [filter, maxAffected(max), ...flags];
}

function maxAffected(max: number): Input {
  const name = 'max_affected';
  const usual = Math.min(DEFAULT_MAX_AFFECTED, max);
  return {
    in: 'query',
    name,
    endpoints: [],
    member: 'maxAffected',
    turn: 2,
    read(text, { inputs, issues }) {
      const value = readInteger(name, text, [1, max], Number.NaN, issues);
      if (value <= max && !inputs['filter'] && issues.length === 0) {
        const detail = `Parameter '${name}' is the most records that q may find, and there is no q.`;
        issues.push({ parameter: name, code: 'exclusive', detail });
      }
      return value;
    },
    describe: () => ({
      description: `The most records that \`q\` may find. Where there are more, nothing is written. With \`q\` only. Default: ${usual}.`,
      schema: { type: 'integer', minimum: 1, maximum: max },
    }),
  };
}

/** Rows that `q` of a request may find. */
export function mostAffected(plan: ResourcePlan, { maxAffected: most }: BulkInputs): number {
  return most ?? Math.min(DEFAULT_MAX_AFFECTED, maxOf(plan));
}
