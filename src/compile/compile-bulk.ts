/** The endpoints that write many records at once -> their plan. */
import { type BulkEndpoint, type Endpoint, SINGLE_OF } from '../declare/endpoint.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { filterEntries } from './compile-filters.js';
import { isBulk, type OptionCheck } from './compile-options.js';
import type { BulkPlan, ResourcePlan } from './resource-plan.js';

const DEFAULT_MAX = 100;
const HIGHEST_MAX = 1000;

/** Compiles the option `bulk` and what `endpoints` names of it; null where each write is of one record. */
export function compileBulk({ options, report }: OptionCheck): BulkPlan | null {
  const { max = DEFAULT_MAX, ...others } = options.bulk ?? {};
  for (const name of Object.keys(others)) {
    report(`bulk has no '${name}'; use max.${didYouMean(name, ['max'])}`);
  }
  if (!Number.isInteger(max) || max < 1 || max > HIGHEST_MAX) {
    report(`bulk.max is ${showValue(max)}; use an integer from 1 to ${HIGHEST_MAX}.`);
  }
  const endpoints = new Set([...(options.endpoints ?? [])].filter(isBulk));
  if (endpoints.has('deleteMany') && filterEntries(options.filterAllow ?? []).length === 0) {
    report(
      `endpoints has 'deleteMany', and filterAllow names nothing that q could be about; name an attribute there, or leave it out.`,
    );
  }
  if (endpoints.size > 0) return Object.freeze({ endpoints, max });
  if (options.bulk) {
    report(
      `bulk limits no endpoint; name 'createMany', 'updateMany' or 'deleteMany' in endpoints, or leave it out.`,
    );
  }
  return null;
}

/** Problems of options that hold for one record, and cannot hold for many. */
export function bulkProblems({
  bulk,
  entityTag,
  ifMatch,
}: Pick<ResourcePlan, 'bulk' | 'entityTag' | 'ifMatch'>): string[] {
  if (!bulk || ifMatch !== 'required') return [];
  const problem = (endpoint: BulkEndpoint, reason: string) =>
    bulk.endpoints.has(endpoint) ? [`endpoints has '${endpoint}', and ifMatch is 'required'; ${reason}`] : [];
  return [
    ...problem('deleteMany', 'what is deleted by q has no tags to name. Leave one of both out.'),
    ...(entityTag?.kind === 'version' && !entityTag.isHidden
      ? []
      : problem(
          'updateMany',
          `the records of a request name their states by a version${entityTag?.isHidden ? ', and no answer shows it. Show it, or leave one of both out.' : '. Give its @Table version: true.'}`,
        )),
  ];
}

/** All endpoints whose rules and bodies a resource has: of many records they are those of one. */
export function singleEndpoints({
  endpoints,
  bulk,
}: Pick<ResourcePlan, 'endpoints' | 'bulk'>): ReadonlySet<Endpoint> {
  return new Set([...endpoints, ...[...(bulk?.endpoints ?? [])].map((each) => SINGLE_OF[each])]);
}
