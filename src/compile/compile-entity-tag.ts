/** The options `etag` and `ifMatch` -> the identity of the states of a row. */
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { isLeftOut } from '../describe/hooks-and-scopes-internals.js';
import { type ModelInfo, versionOf, XMIN } from '../describe/model-info.js';
import { showValue } from '../util/option-problems.js';
import type { OptionCheck } from './compile-options.js';
import type { EntityTagPlan, ResourcePlan } from './resource-plan.js';

const MAX_TRANSACTION = 4_294_967_295n;
const MAX_BIGINT = 9_223_372_036_854_775_807n;

/** Compiles the option; null is a resource without strong tags. */
export function compileEntityTag({ info, exposure, options, report }: OptionCheck): EntityTagPlan | null {
  const version = versionOf(info.model);
  const etag: unknown = options.etag ?? (version === undefined ? false : 'version');
  if (etag === false) return null;
  if (etag === 'xmin') return Object.freeze({ kind: 'xmin', attribute: XMIN, maximum: MAX_TRANSACTION });
  if (etag !== 'version') {
    report(`etag is ${showValue(etag)}; use 'version', 'xmin' or false.`);
    return null;
  }
  const type = info.attributes.get(version ?? '')?.type;
  if (version !== undefined) {
    const maximum = type?.kind === 'integer' ? BigInt(type.maximum) : MAX_BIGINT;
    // The option `etag: 'version'` puts a hidden version into the tag.
    const isHidden = options.etag === undefined && exposure.unreadable.has(version);
    return Object.freeze({ kind: 'version', attribute: version, maximum, ...(isHidden ? { isHidden } : {}) });
  }
  report(`etag is 'version', and the model has none; give its @Table version: true, or use 'xmin'.`);
  return null;
}

/** Why Sequelize could not count the changes of a row; undefined where it can. */
export function versionProblem({ model }: ModelInfo, endpoints: ReadonlySet<Endpoint>): string | undefined {
  const version = versionOf(model);
  const isChanged = [...endpoints].some((each) => ['update', 'replace'].includes(baseOf(each)));
  if (version === undefined || !isChanged || !isLeftOut(model, version)) return undefined;
  return (
    `the default scope leaves out ${version}, without which Sequelize changes no row; have the scope read it: ` +
    '@Exclude() hides it from answers.'
  );
}

/** Compiles the option `ifMatch`: `required` where writes need a condition. */
export function compileIfMatch(
  { options, report }: OptionCheck,
  tag: EntityTagPlan | null,
): ResourcePlan['ifMatch'] {
  const { ifMatch = 'optional' } = options;
  if (ifMatch !== 'optional' && ifMatch !== 'required') {
    report(`ifMatch is ${showValue(ifMatch)}; use 'optional' or 'required'.`);
    return 'optional';
  }
  if (ifMatch === 'required' && tag === null) {
    report(
      `ifMatch is 'required', and the records have no tags; give its @Table version: true, or use etag: 'xmin'.`,
    );
  }
  return ifMatch;
}
