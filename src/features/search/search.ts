/** Rows that have the words of a client's: `search`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { AccessForm } from '../../operation/access.js';
import { perForm } from '../../operation/access.js';
import type { FeatureFactory, InputDescription } from '../../operation/feature.js';
import type { Filter } from '../../request/query/predicate.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { inspectSearch, searchColumns } from './inspect-search.js';
import { queryCondition, queryProblem } from './parse-query.js';
import { wordsCondition, wordsProblem } from './parse-words.js';
import { checkSearch, compileSearch, type SearchPlan, searchIndexes, searchOf } from './search-options.js';
import { SEARCH_LIMITS } from './search-text.js';

/** The search of the rows of a resource. */
export interface SearchReader {
  /** True where requests of a form have the parameter. It is unknown where they may not read enough of the searched attributes. */
  isFor(form: AccessForm): boolean;
  /** Reads the condition on the rows. Problems are added to `issues`, and null is read. */
  read(parameter: string, text: string, form: AccessForm, issues: RequestIssue[]): Filter | null;
  /** @param found the records that are found, in a sentence */
  describe(found: string): InputDescription;
}

/** The parser of a search in attributes that requests of a form may read; null where the resource has none. */
export function searchReader(plan: ResourcePlan): SearchReader | null {
  const search = searchOf(plan);
  if (!search) return null;
  const { attributes, text: vector } = search;
  const readableFor = perForm(({ unreadable }) => attributes.filter((name) => !unreadable.has(name)));
  // Words of a vector are those of any of its attributes.
  const isFor = (form: AccessForm) => readableFor(form).length >= (vector ? attributes.length : 1);
  return {
    isFor,
    read(parameter, text, form, issues) {
      const unknown = {
        code: 'unknown',
        detail: `This route has no parameter '${parameter}' for this request.`,
      };
      const wrong = vector ? queryProblem : wordsProblem;
      const problem = isFor(form) ? wrong(parameter, text) : unknown;
      if (problem) issues.push({ parameter, ...problem });
      if (problem) return null;
      return vector ? queryCondition(vector, text) : wordsCondition(text, readableFor(form));
    },
    describe: (found) => describeSearch(found, search),
  };
}

function describeSearch(found: string, { attributes, text }: SearchPlan): InputDescription {
  const { length, words, wordLength } = SEARCH_LIMITS;
  const names = attributes.map((name) => `\`${name}\``).join(', ');
  const most = `At most ${words} words of ${wordLength} characters`;
  const among = attributes.length > 1 ? 'one of ' : '';
  const description = text
    ? `${found} with these words in ${names}. A phrase stands in double quotes, \`or\` is between alternatives, and a word with \`-\` before it must ` +
      `not be there; one has to be there. ${text.prefix ? 'The last word may be the beginning of one. ' : ''}${most}.`
    : `${found} that have each word in ${among}${names}, anywhere and in any case. ` +
      `${most}; one of them has three letters or digits in a row.`;
  return { description, schema: { type: 'string', minLength: text ? 1 : 2, maxLength: length } };
}

/** A condition in words, beside `q`. */
export const search: FeatureFactory = Object.assign(
  ({ plan }: { readonly plan: ResourcePlan }): ReturnType<FeatureFactory> => {
    const reader = searchReader(plan);
    if (!reader) return null;
    return {
      inputs: [
        {
          in: 'query',
          name: 'search',
          endpoints: ['list'],
          turn: 1,
          isFor: reader.isFor,
          read: (text, { access, issues }) => reader.read('search', text, access.form, issues) ?? undefined,
          describe: () => reader.describe('Records'),
        },
      ],
      condition: ({ search: condition }) => (condition as Filter | undefined) ?? null,
    };
  },
  {
    resourceOptions: { search: compileSearch },
    check: checkSearch,
    columns: searchColumns,
    indexes: searchIndexes,
    inspectTable: inspectSearch,
  },
);
