/** The feature `count`: the rows of a list that are counted. `@Crud` has an option by which requests choose. */

import type { CountPlan } from '../compile/resource-plan.js';
import { COUNT_MODES, type CountMode } from '../declare/count-options.js';
import { countOfList } from '../operation/count.js';
import type { Feature, FeatureFactory, InputDescription, Inputs } from '../operation/feature.js';
import type { ListOperation } from '../operation/operation.js';
import { quote } from '../request/query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/option-problems.js';

/** Reads `count` of a request, within the modes of the resource. */
export const count: FeatureFactory = ({ plan }) => {
  const { count: options } = plan;
  const steps: Pick<Feature, 'prepare' | 'rewrite'> = {
    prepare: { list: counted },
    rewrite: { list: counted },
  };
  if (!options) return steps;
  return {
    ...steps,
    constants: { list: () => ({ cap: options.cap }) },
    inputs: [
      {
        in: 'query',
        name: 'count',
        endpoints: ['list'],
        absent: options.default,
        read: (text, { issues }) => readCount('count', options, text, issues),
        describe: () => {
          const { description, schema } = describeCount('How the records are counted', options);
          return { description, schema: { ...schema, default: options.default } };
        },
      },
    ],
  };
};

function counted(operation: ListOperation, inputs: Inputs): ListOperation {
  return { ...operation, count: countOfList(inputs) };
}

/** Reads a mode. Problems are added to `issues`. */
export function readCount(
  parameter: string,
  { allow, default: usual }: CountPlan,
  text: string,
  issues: RequestIssue[],
): CountMode {
  const mode = allow.find((each) => each === text);
  if (mode !== undefined) return mode;
  issues.push({
    parameter,
    code: 'count.not-allowed',
    detail: `Parameter '${parameter}' is ${quote(text)}; it accepts ${allow.join(', ')}.${didYouMean(text, allow)}`,
    allowed: allow,
  });
  return usual;
}

/** Describes the parameter. @param what the beginning of its first sentence */
export function describeCount(what: string, { allow, cap, default: usual }: CountPlan): InputDescription {
  const meanings: Readonly<Record<CountMode, string>> = {
    exact: '`exact` counts all of them',
    capped: `\`capped\` counts ${cap} at most`,
    none: '`none` counts nothing',
  };
  const shown = COUNT_MODES.filter((mode) => allow.includes(mode)).map((mode) => meanings[mode]);
  return {
    description: `${what}: ${shown.join(', ')}. \`total_is\` tells what \`total\` is. Default: \`${usual}\`.`,
    // A page of documentation would send a `default`, and without `include` that is an error.
    schema: { type: 'string', enum: allow },
  };
}
