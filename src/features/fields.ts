/** The properties of answers: `fields`, and attributes that a request may not read. */
import { type AccessForm, perForm } from '../operation/access.js';
import { compileAlso } from '../operation/compile-operation.js';
import type { FeatureFactory, Inputs } from '../operation/feature.js';
import type { Selection } from '../operation/operation.js';
import { quote } from '../request/query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { BoundedCache, perPair } from '../util/memo.js';
import { didYouMean } from '../util/option-problems.js';
import { chosenNames } from './chosen-names.js';

/** Parses the properties of answers. The same choice is the same object, so that its statement is compiled once. */
export interface FieldsReader {
  read(text: string, form: AccessForm, issues: RequestIssue[]): readonly string[];
  /** Attributes that a request without `fields` reads; null is all of them. */
  absentFor(form: AccessForm): readonly string[] | null;
}

/** The parser of properties that requests of a form may read. */
export function fieldsReader(readable: readonly string[]): FieldsReader {
  const choices = new BoundedCache<readonly string[]>();
  const choice = (names: readonly string[]) => choices.get(names.join('\0'), () => Object.freeze([...names]));
  const readableFor = perForm(({ unreadable }) =>
    unreadable.size === 0 ? readable : choice(readable.filter((name) => !unreadable.has(name))),
  );
  return {
    read: (text, form, issues) => choice(parseFields(readableFor(form), text, issues)),
    absentFor: (form) => (form.unreadable.size === 0 ? null : readableFor(form)),
  };
}

/** Some of the properties. */
export const fields: FeatureFactory = ({ plan, readable, columnsOf }) => {
  const { read, absentFor } = fieldsReader(readable);
  const shown = readable.filter((name) => plan.access?.fields.get(name)?.read !== false);
  const mask = (form: AccessForm): Inputs => ({ fields: absentFor(form) });
  const { primaryKey, address } = plan.info;
  // A statement names one column at least.
  const someColumns =
    primaryKey.length > 0 ? primaryKey.map(({ name }) => name) : columnsOf(readable).slice(0, 1);
  const found = perPair((names: readonly string[]): Selection => {
    const columns = columnsOf(names);
    return Object.freeze({ columns: columns.length > 0 ? columns : someColumns });
  });
  const written = perPair(
    (names: readonly string[]): Selection =>
      Object.freeze({ columns: [...new Set([...columnsOf(names), ...address.map(({ name }) => name)])] }),
  );
  const adding = compileAlso();
  const select = <O extends { readonly select: Selection }>(operation: O, inputs: Inputs): O => {
    const chosen = inputs.fields ? { ...operation, select: found(inputs.fields) } : operation;
    // No request sets it.
    const also = inputs['also'] as readonly string[] | undefined;
    return also ? { ...chosen, select: adding(chosen.select, also) } : chosen;
  };
  const withReturning = <O extends { readonly returning: Selection }>(operation: O, inputs: Inputs): O =>
    inputs.fields ? { ...operation, returning: written(inputs.fields) } : operation;
  return {
    inputs: [
      {
        in: 'query',
        name: 'fields',
        endpoints: ['list', 'read'],
        absentFor,
        turn: 2,
        read: (text, { issues, access }) => read(text, access.form, issues),
        describe: () => chosenNames(ONLY_THESE, shown, shown.length),
      },
    ],
    constants: { create: mask, update: mask, replace: mask },
    rewrite: {
      list: select,
      read: select,
      create: withReturning,
      update: withReturning,
      replace: withReturning,
    },
  };
};

const ONLY_THESE =
  'Only these properties are answered. Others are absent, also where the schema requires them.';

/** Parses `name,population`. Problems are added to `issues`. */
function parseFields(readable: readonly string[], text: string, issues: RequestIssue[]): readonly string[] {
  const names = text.split(',', readable.length + 1);
  const unknown = [...new Set(names)].filter((name) => !readable.includes(name));
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
