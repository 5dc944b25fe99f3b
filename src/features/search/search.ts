/** Rows that have the words of a client's: `search`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { type AccessForm, perForm } from '../../operation/access.js';
import type { FeatureFactory, InputDescription } from '../../operation/feature.js';
import type { Filter } from '../../request/query/predicate.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { readWords, SEARCH_LIMITS, wordsCondition } from './parse-words.js';
import { checkSearch, compileSearch, searchIndexes, searchOf } from './search-options.js';

/** The search of the rows of a resource. */
export interface SearchReader {
  /** True where requests of a form may read an attribute that is searched. The parameter is unknown to others. */
  isFor(form: AccessForm): boolean;
  /** Reads the condition on the rows. What is wrong is added to `issues`, and null is read. */
  read(parameter: string, text: string, form: AccessForm, issues: RequestIssue[]): Filter | null;
  /** @param found the records that are found, in a sentence */
  describe(found: string): InputDescription;
}

/** The parser of a search in what requests of a form may read; null where the resource has none. */
export function searchReader(plan: ResourcePlan): SearchReader | null {
  const search = searchOf(plan);
  if (!search) return null;
  const attributesFor = perForm(({ unreadable }) =>
    search.attributes.filter((name) => !unreadable.has(name)),
  );
  return {
    isFor: (form) => attributesFor(form).length > 0,
    read(parameter, text, form, issues) {
      if (attributesFor(form).length === 0) {
        const detail = `This route has no parameter '${parameter}' for this request.`;
        issues.push({ parameter, code: 'unknown', detail });
        return null;
      }
      const words = readWords(parameter, text, issues);
      return words ? wordsCondition(words, attributesFor(form)) : null;
    },
    describe: (found) => describeSearch(found, search.attributes),
  };
}

function describeSearch(found: string, attributes: readonly string[]): InputDescription {
  const { length, words, wordLength } = SEARCH_LIMITS;
  const names = attributes.map((name) => `\`${name}\``).join(', ');
  return {
    description:
      `${found} that have each word in ${attributes.length > 1 ? 'one of ' : ''}${names}, anywhere and in any case. ` +
      `At most ${words} words of ${wordLength} characters; one of them has three letters or digits in a row.`,
    schema: { type: 'string', minLength: 2, maxLength: length },
  };
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
    indexes: searchIndexes,
  },
);
