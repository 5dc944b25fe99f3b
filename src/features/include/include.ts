/** Relations that are answered along with each record: `include`, and the parameters of each. */

import { orderNames } from '../../compile/compile-sort.js';
import { everyInclude, type IncludePlan } from '../../compile/resource-plan.js';
import { parentKeys } from '../../describe/relations.js';
import { type Access, type AccessForm, perForm } from '../../operation/access.js';
import { compileAlso } from '../../operation/compile-operation.js';
import type {
  FeatureFactory,
  Input,
  InputDescription,
  Inputs,
  Reading,
  ViewRegistry,
} from '../../operation/feature.js';
import type { Selection } from '../../operation/operation.js';
import { allOf } from '../../operation/predicates.js';
import { grantedOf, withGranted } from '../../operation/related-rows.js';
import type { Inclusion } from '../../request/query/list-query.js';
import type { Filter } from '../../request/query/predicate.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { BoundedCache } from '../../util/memo.js';
import { chosenNames } from '../chosen-names.js';
import { describeCount, readCount } from '../count.js';
import { type FieldsReader, fieldsReader } from '../fields.js';
import { type FilterReader, filterReader, isFilterable } from '../filter.js';
import { filterDescription, filterSchema } from '../filter-guide.js';
import { addUnknown, checkNames, type Including, includedPaths, isHidden } from '../include-names.js';
import { readInteger } from '../paging.js';
import { isRuled } from '../scope.js';
import { type SearchReader, searchReader } from '../search/search.js';
import { type SortReader, sortReader } from '../sort.js';

const ENDPOINTS = ['list', 'read'] as const;

/** A relation that may be included, with the parsers of its parameters. */
interface Included {
  readonly plan: IncludePlan;
  readonly filter: FilterReader;
  /** Null where its target has no search, or it has one record at most. */
  readonly search: SearchReader | null;
  readonly sort: SortReader;
  readonly fields: FieldsReader;
  readonly parameters: readonly Parameter[];
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
  const also = compileAlso();
  const parameters = all.flatMap(({ plan: { path }, parameters }) =>
    parameters.map(({ name }) => `${path}.${name}`),
  );
  // The relations of the last request that named them without parameters of theirs.
  const usual = perForm(() => new BoundedCache<{ last: readonly Inclusion[] | null }>());
  const rewrite = <O extends { readonly select: Selection }>(
    operation: O,
    { include: wanted }: Inputs,
  ): O => {
    if (!wanted || wanted.length === 0) return operation;
    const keys = wanted.flatMap(({ plan }) => parentKeys(plan.relation));
    return { ...operation, select: also(operation.select, keys) };
  };
  return {
    inputs: [
      {
        in: 'query',
        name: 'include',
        endpoints: ENDPOINTS,
        turn: 3,
        read(text, reading) {
          const { form } = reading.access;
          const isUsual = !parameters.some((name) => reading.textOf(name) !== undefined);
          const known = isUsual ? usual(form).get(text, () => ({ last: null })) : { last: null };
          if (known.last && allIncluded(known.last).every((each) => isGranted(each, reading)))
            return known.last;
          const plans = relations.include;
          const including = { plans, wanted: includedPaths(text, paths), reading };
          checkNames(text, paths, including);
          const found = readInclude(plans, form, including, byPath);
          if (reading.issues.length === 0) known.last = found;
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
    problems: all.some(({ plan }) => isRuled(plan)) ? { list: [403], read: [403] } : {},
  };
};

/** The relations of one level that are wanted, in the order of the options. */
function readInclude(
  plans: ReadonlyMap<string, IncludePlan>,
  form: AccessForm,
  including: Including,
  byPath: ReadonlyMap<string, Included>,
): readonly Inclusion[] {
  const { wanted, reading } = including;
  const found = [...plans.values()].filter(({ path }) => wanted.has(path));
  return Object.freeze(
    found.map((plan) => {
      const access = reading.related(plan);
      if (isHidden(plan, form, access)) addUnknown(including, plan.path);
      const read = readParameters(byPath.get(plan.path) as Included, access.target, reading);
      const behind = readInclude(plan.include, access.target.form, including, byPath);
      return withGranted({ plan, ...read, include: behind }, access);
    }),
  );
}

function readParameters(
  { plan, filter, search, sort, fields, parameters }: Included,
  { form }: Access,
  { textOf, issues, related }: Reading,
): Omit<Inclusion, 'plan' | 'include'> {
  const { path, size, count, target } = plan;
  const given = <T>(name: string, absent: T, read: (text: string, found: RequestIssue[]) => T): T => {
    const parameter = `${path}.${name}`;
    // A parameter that the relation does not have is unknown, and may be ignored.
    const text = parameters.some((each) => each.name === name) ? textOf(parameter) : undefined;
    if (text === undefined) return absent;
    const found: RequestIssue[] = [];
    const value = read(text, found);
    issues.push(...found.map((issue) => ({ ...issue, parameter })));
    return value;
  };
  const named = given('q', null, (text, found) => filter(text, form, found, related));
  const searched = given(
    'search',
    null,
    (text, found) => search?.read(`${path}.search`, text, form, found) ?? null,
  );
  return {
    fields: given('fields', fields.absentFor(form), (text, found) => fields.read(text, form, found)),
    size:
      size === null
        ? 1
        : given('size', size.default, (text, found) =>
            readInteger(`${path}.size`, text, [0, size.max], size.max, found),
          ),
    sort: given('sort', target.defaultSort, (text, found) => sort(text, form, found, related)),
    // Neither has slots.
    filter: allOf(named, searched) as Filter | null,
    count:
      count === null
        ? undefined
        : given('count', count.default, (text, found) => readCount(`${path}.count`, count, text, found)),
  };
}

function compileIncluded(plan: IncludePlan, views: ViewRegistry): Included {
  const { target } = plan;
  const { readable } = views(plan.relation.target);
  const search = plan.size === null ? null : searchReader(target);
  return {
    plan,
    filter: filterReader(target),
    search,
    sort: sortReader(target),
    fields: fieldsReader(readable),
    parameters: parametersOf(plan, readable, search),
  };
}

/** The parameters of a relation. A record alone is chosen by its parent. */
function parametersOf(
  { path, target, size, count }: IncludePlan,
  readable: readonly string[],
  search: SearchReader | null,
): readonly Parameter[] {
  const shown = readable.filter((name) => target.access?.fields.get(name)?.read !== false);
  const fields = {
    name: 'fields',
    describe: () => chosenNames(`Only these properties of \`${path}\` are answered.`, shown, shown.length),
  };
  if (size === null) return [fields];
  return [
    {
      name: 'size',
      describe: () => ({
        // A `default` in the schema would be sent by pages that fill it in, and without `include` it is an error.
        description: `At most so many items of \`${path}\` for each record. Default: ${size.default}.`,
        schema: { type: 'integer', minimum: 0, maximum: size.max },
      }),
    },
    {
      name: 'sort',
      describe: () =>
        chosenNames(
          `The order of \`${path}\`; \`-\` is descending. Default: \`${orderNames(target.defaultSort)}\`.`,
          target.sortable.flatMap((name) => [name, `-${name}`]),
          target.sortable.length,
        ),
    },
    ...(count === null
      ? []
      : [
          {
            name: 'count',
            describe: () =>
              describeCount(`How the items of \`${path}\` that each record has are counted`, count),
          },
        ]),
    ...(!isFilterable(target)
      ? []
      : [
          {
            name: 'q',
            describe: () => ({
              description: `Which items of \`${path}\` are answered; it chooses no records. ${filterDescription(target)}`,
              schema: filterSchema(target),
            }),
          },
        ]),
    ...(search ? [{ name: 'search', describe: () => search.describe(`Of \`${path}\` the items`) }] : []),
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
      if (includedPaths(textOf('include') ?? '', [path]).size > 0) return undefined;
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

/** True where a request may see the same related rows as the request that the inclusion was made for. */
function isGranted(inclusion: Inclusion, { related }: Reading): boolean {
  return related(inclusion.plan) === grantedOf(inclusion);
}

function allIncluded(include: readonly Inclusion[]): readonly Inclusion[] {
  return include.flatMap((each) => [each, ...allIncluded(each.include)]);
}
