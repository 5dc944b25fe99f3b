/** Relations that are answered along with each record: `include`, and the parameters of each. */
import type { Access, AccessForm } from '../operation/access.js';
import type {
  FeatureFactory,
  Input,
  InputDescription,
  Inputs,
  Reading,
  ViewRegistry,
} from '../operation/feature.js';
import type { Selection } from '../operation/operation.js';
import { everyInclude, type IncludePlan } from '../plan/resource-plan.js';
import { FILTER_LIMITS } from '../query/filter-syntax.js';
import type { Inclusion } from '../query/list-query.js';
import { quote } from '../query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { BoundedCache } from '../util/bounded-cache.js';
import { didYouMean } from '../util/did-you-mean.js';
import { chosenNames } from './chosen-names.js';
import { type FieldsReader, fieldsReader } from './fields.js';
import { type FilterReader, filterReader } from './filter.js';
import { filterDescription } from './filter-guide.js';
import { type SortReader, sortReader } from './sort.js';

const ENDPOINTS = ['list', 'read'] as const;
const WHOLE_NUMBER = /^\d{1,9}$/;

/** A relation that may be included, with the parsers of its parameters. */
interface Included {
  readonly plan: IncludePlan;
  readonly filter: FilterReader;
  readonly sort: SortReader;
  readonly fields: FieldsReader;
  readonly parameters: readonly Parameter[];
}

/** The relations of the last request that named them without parameters of theirs. */
interface Usual {
  readonly plans: readonly IncludePlan[];
  /** What the request could see of each. */
  readonly forms: readonly AccessForm[];
  readonly include: readonly Inclusion[];
}

/** A parameter of a relation: `reviews.size`. */
interface Parameter {
  readonly name: string;
  describe(): InputDescription | null;
}

/** The relations of each record. */
export const include: FeatureFactory = ({ plan: { relations }, views }) => {
  const all = everyInclude(relations.include).map((each) => compileIncluded(each, views));
  if (all.length === 0) return null;
  const byPath = new Map(all.map((each) => [each.plan.path, each]));
  const paths = [...byPath.keys()];
  const select = withKeys();
  const parameters = all.flatMap(({ plan: { path }, parameters }) =>
    parameters.map(({ name }) => `${path}.${name}`),
  );
  const usual = new BoundedCache<{ last: Usual | null }>();
  const rewrite = <O extends { readonly select: Selection }>(
    operation: O,
    { include: wanted }: Inputs,
  ): O => {
    if (!wanted || wanted.length === 0) return operation;
    return { ...operation, select: select(operation.select, wanted) };
  };
  return {
    inputs: [
      {
        in: 'query',
        name: 'include',
        endpoints: ENDPOINTS,
        turn: 3,
        read(text, reading) {
          const read = () =>
            readInclude(relations.include, byPath, wantedPaths(text, paths, reading.issues), reading);
          if (parameters.some((name) => reading.textOf(name) !== undefined)) return read();
          const known = usual.get(text, () => ({ last: null }));
          if (
            known.last?.plans.every(
              (plan, index) => reading.related(plan).target.form === known.last?.forms[index],
            )
          )
            return known.last.include;
          const found = read();
          if (reading.issues.length === 0) known.last = usualOf(found, reading);
          return found;
        },
        describe: () =>
          chosenNames(
            'These relations are answered along with each record. One behind a dot includes that before it.',
            paths,
            paths.length,
          ),
      },
      ...all.flatMap(({ plan, parameters }) => parameters.map((parameter) => relationInput(plan, parameter))),
    ],
    rewrite: { list: rewrite, read: rewrite },
  };
};

/** Names of relations in `include`, without knowing which there are. */
export function includedPaths(text: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const path of text.split(',')) {
    const names = path.split('.');
    for (const [index] of names.entries()) paths.add(names.slice(0, index + 1).join('.'));
  }
  return paths;
}

/** The paths that are named, and those before their dots. What is wrong is added to `issues`. */
function wantedPaths(text: string, paths: readonly string[], issues: RequestIssue[]): ReadonlySet<string> {
  const names = text.split(',', paths.length + 1);
  for (const [index, name] of names.entries()) {
    if (!paths.includes(name)) issues.push(unknownIssue(paths, name));
    else if (names.indexOf(name) !== index)
      issues.push({
        parameter: 'include',
        code: 'include.repeated',
        detail: `'${name}' may be named once in include.`,
      });
  }
  return includedPaths(names.filter((name) => paths.includes(name)).join(','));
}

function unknownIssue(paths: readonly string[], name: string): RequestIssue {
  return {
    parameter: 'include',
    code: 'include.unknown',
    detail: `Cannot include ${quote(name)}.${didYouMean(name, paths)} The relations are ${paths.join(', ')}.`,
    allowed: paths,
  };
}

/** The relations of one level that are wanted, in the order of the options. */
function readInclude(
  plans: ReadonlyMap<string, IncludePlan>,
  byPath: ReadonlyMap<string, Included>,
  wanted: ReadonlySet<string>,
  reading: Reading,
): readonly Inclusion[] {
  const found = [...plans.values()].filter(({ path }) => wanted.has(path));
  return Object.freeze(
    found.map((plan) => {
      const { target } = reading.related(plan);
      const read = readParameters(byPath.get(plan.path) as Included, target, reading);
      return Object.freeze({ plan, ...read, include: readInclude(plan.include, byPath, wanted, reading) });
    }),
  );
}

function readParameters(
  { plan, filter, sort, fields }: Included,
  { form }: Access,
  { textOf, issues }: Reading,
): Omit<Inclusion, 'plan' | 'include'> {
  const { path, size, target } = plan;
  const given = <T>(name: string, absent: T, read: (text: string, found: RequestIssue[]) => T): T => {
    const parameter = `${path}.${name}`;
    const text = textOf(parameter);
    if (text === undefined) return absent;
    const found: RequestIssue[] = [];
    const value = read(text, found);
    issues.push(...found.map((issue) => ({ ...issue, parameter })));
    return value;
  };
  return {
    fields: given('fields', fields.absentFor(form), (text, found) => fields.read(text, form, found)),
    size:
      size === null ? 1 : given('size', size.default, (text, found) => readSize(path, size.max, text, found)),
    sort: given('sort', target.defaultSort, (text, found) => sort(text, form, found)),
    filter: given('q', null, (text, found) => filter(text, form, found)),
  };
}

function readSize(path: string, max: number, text: string, issues: RequestIssue[]): number {
  const value = WHOLE_NUMBER.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  const parameter = `${path}.size`;
  issues.push({
    parameter,
    code: 'range',
    detail: `Parameter '${parameter}' is ${quote(text)}; it accepts an integer from 0 to ${max}.`,
  });
  return max;
}

function compileIncluded(plan: IncludePlan, views: ViewRegistry): Included {
  const { target } = plan;
  const { readable } = views(plan.relation.target);
  return {
    plan,
    filter: filterReader(target),
    sort: sortReader(target),
    fields: fieldsReader(readable),
    parameters: parametersOf(plan, readable),
  };
}

/** The parameters of a relation. A record alone is chosen by its parent. */
function parametersOf(
  { path, target, size }: IncludePlan,
  readable: readonly string[],
): readonly Parameter[] {
  const shown = readable.filter((name) => target.access?.fields.get(name)?.read !== false);
  const fields = {
    name: 'fields',
    describe: () => chosenNames(`Only these properties of \`${path}\` are answered.`, shown, shown.length),
  };
  if (size === null) return [fields];
  const usual = target.defaultSort.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`);
  return [
    {
      name: 'size',
      describe: () => ({
        description: `How many items of \`${path}\` each record has.`,
        schema: { type: 'integer', minimum: 0, maximum: size.max, default: size.default },
      }),
    },
    {
      name: 'sort',
      describe: () =>
        chosenNames(
          `The order of \`${path}\`; \`-\` is descending. Default: \`${usual.join(',')}\`.`,
          target.sortable.flatMap((name) => [name, `-${name}`]),
          target.sortable.length,
        ),
    },
    ...(target.filters.size === 0
      ? []
      : [
          {
            name: 'q',
            describe: () => ({
              description: `Which items of \`${path}\` are answered; it chooses no records. ${filterDescription(target)}`,
              schema: { type: 'string', maxLength: FILTER_LIMITS.length } as const,
            }),
          },
        ]),
    fields,
  ];
}

/** It is read with `include`; alone it would be passed over. */
function relationInput({ path }: IncludePlan, { name, describe }: Parameter): Input {
  const parameter = `${path}.${name}`;
  return {
    in: 'query',
    name: parameter,
    endpoints: ENDPOINTS,
    read(_text, { textOf, issues }) {
      if (includedPaths(textOf('include') ?? '').has(path)) return undefined;
      issues.push({
        parameter,
        code: 'include.missing',
        detail: `Parameter '${parameter}' is about a relation that is not included; add include=${path}, or leave it out.`,
      });
      return undefined;
    },
    describe,
  };
}

function usualOf(include: readonly Inclusion[], { related }: Reading): Usual {
  const all = (each: readonly Inclusion[]): IncludePlan[] =>
    each.flatMap((one) => [one.plan, ...all(one.include)]);
  const plans = all(include);
  return { plans, forms: plans.map((plan) => related(plan).target.form), include };
}

/** Adds the keys of relations to selections. The same for the same selection and relations. */
function withKeys(): (select: Selection, wanted: readonly Inclusion[]) => Selection {
  const known = new WeakMap<Selection, BoundedCache<Selection>>();
  return (select, wanted) => {
    const cache = known.get(select) ?? new BoundedCache<Selection>();
    known.set(select, cache);
    const keys = wanted.map(({ plan }) => plan.relation.parentKey);
    return cache.get(keys.join('\0'), () =>
      Object.freeze({ columns: Object.freeze([...new Set([...select.columns, ...keys])]) }),
    );
  };
}
