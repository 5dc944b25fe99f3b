/** The order of a list: `sort`. */

import {
  MAX_SORT_TERMS,
  orderNames,
  parseSortName,
  sortedAttribute,
  sortRelations,
  termsOf,
  totalOrder,
} from '../compile/compile-sort.js';
import { type ResourcePlan, restrictedNames, type SortKey, type SortTerm } from '../compile/resource-plan.js';
import { hasKeyIn } from '../describe/relations.js';
import { type AccessForm, perForm } from '../operation/access.js';
import type { FeatureFactory, Reading } from '../operation/feature.js';
import { grantedOf, withGranted } from '../operation/related-rows.js';
import { quote } from '../request/query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/option-problems.js';
import { chosenNames } from './chosen-names.js';
import { isHidden } from './include-names.js';
import { isRuled } from './scope.js';
import { relevanceReader } from './search/relevance.js';
import { RELEVANCE } from './search/search-options.js';

/** Parses orders of the rows of a resource. */
export type SortReader = (
  text: string,
  form: AccessForm,
  issues: RequestIssue[],
  related: Reading['related'],
) => readonly SortTerm[];

/** The parser of orders by attributes that requests of a form may read. */
export function sortReader(plan: ResourcePlan): SortReader {
  const planFor = perForm(({ unreadable }) => ({
    ...plan,
    sortable: plan.sortable.filter(
      (name) => !termsOf(plan, name, false).some((term) => unreadable.has(sortedAttribute(term))),
    ),
  }));
  const guardedFor = perForm(
    (form) =>
      new Set(
        [...plan.sortKeys].flatMap(([name, keys]) =>
          keys.some((key) => mayBeHidden(key, form)) ? name : [],
        ),
      ),
  );
  if (sortRelations(plan).length === 0) return (text, form, issues) => parseSort(planFor(form), text, issues);
  return (text, form, issues, related) => {
    const known = planFor(form);
    const guarded = guardedFor(form);
    // The rules of relations that the text does not name are not evaluated.
    const asked = new Set(sortRelations(plan, text.split(',', MAX_SORT_TERMS)));
    const accessTo = ({ value }: SortKey) =>
      value?.kind === 'related' && asked.has(value.related) ? related(value.related) : null;
    const isShown = (key: SortKey) => {
      const access = accessTo(key);
      if (!access || key.value?.kind !== 'related') return !guarded.has(key.attribute);
      const { related: to, key: inner } = key.value;
      return !isHidden(to, form, access) && !access.target.form.unreadable.has(sortedAttribute(inner));
    };
    const sortable = known.sortable.filter((name) => termsOf(plan, name, false).every(isShown));
    return parseSort({ ...known, sortable }, text, issues).map((term) => {
      const access = accessTo(term);
      return access ? withGranted(term, access) : term;
    });
  };
}

/** True for a key that some requests may not read. No error names it unless the rules of its relation were evaluated. */
export function mayBeHidden({ value }: SortKey, { unreadable }: AccessForm): boolean {
  if (value?.kind !== 'related') return false;
  const { relation, target } = value.related;
  const restricted = restrictedNames(target.access);
  return restricted.has(sortedAttribute(value.key)) || hasKeyIn(relation, unreadable, restricted, new Set());
}

/** A total order. */
export const sort: FeatureFactory = ({ plan }) => {
  const { defaultSort } = plan;
  const read = sortReader(plan);
  const relations = sortRelations(plan);
  const readRelevance = relevanceReader(plan);
  const names = readRelevance && plan.pagination === 'offset' ? [RELEVANCE] : [];
  const shown = orderNames(defaultSort);
  return {
    inputs: [
      {
        in: 'query',
        name: 'sort',
        endpoints: ['list'],
        namesKeys: true,
        absent: defaultSort,
        turn: 2,
        read: (text, reading) =>
          readRelevance?.(text, reading) ?? read(text, reading.access.form, reading.issues, reading.related),
        describe: () =>
          chosenNames(
            `The order; \`-\` is descending. An attribute is named once. Default: \`${shown}\`. ` +
              'The primary key is appended, so that the order is total.',
            [...plan.sortable.flatMap((name) => [name, `-${name}`]), ...names],
            Math.max(1, Math.min(MAX_SORT_TERMS, plan.sortable.length)),
          ),
      },
    ],
    ...(relations.length > 0 ? { digest: ({ sort: order = [] }) => rowsSeen(order) } : {}),
    rewrite: { list: (operation, { sort: order = defaultSort }) => ({ ...operation, order }) },
    problems: relations.some(isRuled) ? { list: [403] } : {},
  };
};

/** The rows behind relations by which an order sorts, for cursors; undefined where it follows none with rules. */
function rowsSeen(order: readonly SortTerm[]): unknown {
  const granted = order.flatMap((term) => grantedOf(term) ?? []);
  const seen = granted.map(({ target, where }) => [target.digest(), where]);
  return seen.some(([digest, where]) => digest || where) ? seen : undefined;
}

/** Parses `-population,name` (JSON:API's syntax). Problems are added to `issues`. */
export function parseSort(plan: ResourcePlan, text: string, issues: RequestIssue[]): readonly SortTerm[] {
  const terms: SortTerm[] = [];
  const named = new Set<string>();
  for (const item of text.split(',', MAX_SORT_TERMS + 1)) {
    // A `+` in a query string arrives as a space.
    const { name, descending } = parseSortName(item.trim());
    if (!plan.sortable.includes(name)) issues.push(unknownIssue(plan, name));
    else if (named.has(name)) issues.push(repeatedIssue(name));
    else terms.push(...termsOf(plan, name, descending));
    named.add(name);
  }
  const count = text.split(',').length;
  if (count > MAX_SORT_TERMS) issues.push(tooManyIssue(count));
  return totalOrder(terms, plan.info.primaryKey);
}

function unknownIssue({ sortable, relations }: ResourcePlan, name: string): RequestIssue {
  const [first = '', ...rest] = name.split('.');
  const { include, filters, subresources } = relations;
  const plan = include.get(first) ?? subresources.get(first) ?? filters.get(first)?.related;
  const isMany = rest.length > 0 && plan?.relation.isOne === false;
  const many = isMany
    ? ` ${first} leads to many records, of which none is the one to sort by.`
    : correction(name, sortable);
  const choices = sortable.length > 0 ? `Sortable: ${sortable.join(', ')}.` : 'Nothing can be sorted here.';
  return {
    parameter: 'sort',
    code: 'sort.unknown-field',
    detail: `Cannot sort by ${quote(name)}.${many} ${choices}`,
    allowed: sortable,
  };
}

/** A sentence for `name:desc` and `name desc`, as other APIs have them, and for a slip of the keyboard. */
function correction(name: string, sortable: readonly string[]): string {
  const [, attribute = '', direction] = /^(.+)[ :](asc|desc)$/i.exec(name) ?? [];
  if (!sortable.includes(attribute)) return didYouMean(name, sortable);
  return ` Did you mean '${direction?.toLowerCase() === 'desc' ? '-' : ''}${attribute}'?`;
}

function repeatedIssue(name: string): RequestIssue {
  return { parameter: 'sort', code: 'sort.repeated', detail: `'${name}' may be named once in sort.` };
}

function tooManyIssue(count: number): RequestIssue {
  return {
    parameter: 'sort',
    code: 'sort.too-many',
    detail: `At most ${MAX_SORT_TERMS} fields are allowed in sort (found ${count}).`,
  };
}
