/** The properties of answers: `fields`. */
import type { FeatureFactory, Inputs } from '../operation/feature.js';
import type { Selection } from '../operation/operation.js';
import { quote } from '../query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/did-you-mean.js';
import { chosenNames } from './chosen-names.js';

/** Some of the properties. */
export const fields: FeatureFactory = ({ readable, columnsOf }) => {
  const select = <O extends { readonly select: Selection }>(operation: O, inputs: Inputs): O =>
    inputs.fields ? { ...operation, select: { columns: columnsOf(inputs.fields) } } : operation;
  return {
    inputs: [
      {
        in: 'query',
        name: 'fields',
        endpoints: ['list', 'read'],
        absent: null,
        turn: 2,
        read: (text, { issues }) => parseFields(readable, text, issues),
        describe: () => chosenNames('Only these properties are answered.', readable, readable.length),
      },
    ],
    rewrite: { list: select, read: select },
  };
};

/** Parses `name,population`. What is wrong is added to `issues`. */
export function parseFields(
  readable: readonly string[],
  text: string,
  issues: RequestIssue[],
): readonly string[] {
  const names = text.split(',', readable.length + 1);
  const unknown = names.filter((name) => !readable.includes(name));
  issues.push(...unknown.map((name) => unknownIssue(readable, name)));
  const repeated = names.find((name, index) => readable.includes(name) && names.indexOf(name) !== index);
  if (repeated !== undefined) {
    issues.push({
      parameter: 'fields',
      code: 'fields.repeated',
      detail: `'${repeated}' may be named once in fields.`,
    });
  }
  return Object.freeze(readable.filter((name) => names.includes(name)));
}

function unknownIssue(readable: readonly string[], name: string): RequestIssue {
  return {
    parameter: 'fields',
    code: 'fields.unknown',
    detail: `There is no field ${quote(name)}.${didYouMean(name, readable)} The fields are ${readable.join(', ')}.`,
    allowed: readable,
  };
}
