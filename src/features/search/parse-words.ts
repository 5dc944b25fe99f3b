/** The text of `search` -> its words, each of which occurs in one of some attributes. */
import { sqlCondition } from '../../operation/predicates.js';
import type { Filter } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import { type SearchProblem, textProblem, wordsOf } from './search-text.js';

/** Three letters or digits in a row, of which a trigram index finds the rows. */
const TRIGRAM = /[\p{L}\p{M}\p{N}]{3}/u;

/** Two letters of scripts whose words are as short as that. No trigram index serves them. */
const SYLLABLES = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]{2}/u;

/** The problem of a search by words; undefined where there is none. */
export function wordsProblem(parameter: string, text: string): SearchProblem | undefined {
  const words = distinctWords(text);
  const problem = textProblem(parameter, text, words);
  if (problem || words.some((word) => TRIGRAM.test(word) || SYLLABLES.test(word))) return problem;
  return {
    code: 'search.short',
    detail: `Parameter '${parameter}' needs a word with three letters or digits in a row, and ${quote(text)} has none.`,
  };
}

function distinctWords(text: string): readonly string[] {
  return [...new Set(wordsOf(text))];
}

/** The rows in which each word occurs in one of the attributes. Of any type of text the same index serves. */
export function wordsCondition(text: string, attributes: readonly string[]): Filter {
  const found = distinctWords(text).map((word): Filter => {
    const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
    const each = attributes.map((attribute): Filter => sqlCondition`${{ attribute }}::text ILIKE ${pattern}`);
    return Object.freeze({ kind: 'or', operands: Object.freeze(each) });
  });
  return Object.freeze({ kind: 'and', operands: Object.freeze(found) });
}
