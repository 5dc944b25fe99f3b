/** The options `etag` and `ifMatch` -> the identity of the states of a row. */
import { isDeepStrictEqual } from 'node:util';
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { isLeftOut } from '../describe/hooks-and-scopes-internals.js';
import { lockOf, ownVersionOf } from '../describe/lock-column.js';
import { type ModelInfo, versionOf, XMIN } from '../describe/model-info.js';
import { declaredOptions } from '../describe/record.js';
import { showValue } from '../util/option-problems.js';
import { hiddenBy, isPlain, knownAttribute, type OptionCheck } from './compile-options.js';
import type { EntityTagPlan, ResourcePlan } from './resource-plan.js';

const MAX_TRANSACTION = 4_294_967_295n;
const MAX_BIGINT = 9_223_372_036_854_775_807n;

/** Compiles the option; null is a resource without strong tags. */
export function compileEntityTag(check: OptionCheck): EntityTagPlan | null {
  const { info, exposure, options, report } = check;
  const version = versionOf(info.model);
  const etag: unknown = options.etag ?? (version === undefined ? false : 'version');
  if (etag === false) return null;
  if (etag === 'xmin') {
    const ofModel = info.attributes.get(XMIN);
    if (ofModel)
      report(
        "etag is 'xmin', and the model has an attribute of this name, whose values would be the tags; rename the attribute (its column " +
          `keeps its name with @Column({ field: '${ofModel.column}' })).`,
      );
    return Object.freeze({ kind: 'xmin', attribute: XMIN, maximum: MAX_TRANSACTION });
  }
  if (isPlain(etag)) return compileLock(check, etag as Readonly<Record<string, unknown>>);
  if (etag !== 'version') {
    report(
      `etag is ${showValue(etag)}; use 'version', 'xmin', false, or an object such as { attribute: 'lockVersion' }.`,
    );
    return null;
  }
  // The option `etag: 'version'` puts a hidden version into the tag.
  const isHidden = options.etag === undefined && exposure.unreadable.has(version ?? '');
  if (version !== undefined) return countedBy(info, version, isHidden);
  report(`etag is 'version', and the model has none; give its @Table version: true, or use 'xmin'.`);
  return null;
}

function countedBy(info: ModelInfo, attribute: string, isHidden: boolean): EntityTagPlan {
  const type = info.attributes.get(attribute)?.type;
  const maximum = type?.kind === 'integer' ? BigInt(type.maximum) : MAX_BIGINT;
  return Object.freeze({ kind: 'version', attribute, maximum, ...(isHidden ? { isHidden } : {}) });
}

/** Compiles the form of `etag` that names an attribute, which is a fact of the model. */
function compileLock(check: OptionCheck, etag: Readonly<Record<string, unknown>>): EntityTagPlan | null {
  const { info, report } = check;
  const { model } = info;
  const { attribute: name, by = 'us', ...others } = etag;
  if (!isDeepStrictEqual(etag, declaredOptions(model)?.etag)) {
    report(
      'etag names an attribute for a route, and which one counts is a fact of the model; write it in its @Crud.',
    );
    return null;
  }
  for (const other of Object.keys(others)) report(`etag has no '${other}'; use attribute and by.`);
  if (by !== 'us' && by !== 'database') {
    report(`etag.by is ${showValue(by)}; use 'us' or 'database'.`);
    return null;
  }
  const attribute = knownAttribute(check, 'etag', String(name));
  if (!attribute) return null;
  const own = ownVersionOf(model);
  if (own !== undefined) {
    report(`etag names '${name}', and @Table has version, which counts by ${own}; remove one of the two.`);
    return null;
  }
  const { role, type } = attribute;
  if (role !== 'version')
    report(`etag names '${name}', which something else writes; use an attribute that only counts.`);
  else if (type.kind === 'date' && by === 'database') return keptMoment(check, attribute.name);
  else if (type.kind !== 'integer' && type.kind !== 'bigint')
    report(
      `etag names '${name}', of type ${type.kind}, which does not count; use an integer, a timestamp with by: 'database', or etag: 'xmin'.`,
    );
  return countedBy(info, attribute.name, false);
}

/** A timestamp that a trigger keeps. Its tags have it, so that they are for those who may read it. */
function keptMoment(
  { info, exposure, hidden, options, report }: OptionCheck,
  attribute: string,
): EntityTagPlan {
  const hides = exposure.unreadable.has(attribute)
    ? hiddenBy(info, attribute)
    : hidden.has(attribute)
      ? 'the readSchema'
      : options.fields?.[attribute as never] && 'fields';
  if (hides)
    report(
      `etag names '${attribute}', a timestamp that ${hides} hides, and tags would tell it; use etag: 'xmin'.`,
    );
  return Object.freeze({ kind: 'moment', attribute, maximum: MAX_BIGINT });
}

/** Why nothing could count the changes of a row; undefined where something can. */
export function versionProblem({ model }: ModelInfo, endpoints: ReadonlySet<Endpoint>): string | undefined {
  const version = versionOf(model) ?? lockOf(model)?.attribute;
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
