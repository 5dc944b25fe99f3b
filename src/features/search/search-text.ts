/** The text of a search -> its problems, for attributes and vectors. */
import { quote } from '../../request/query/query-string.js';
import type { RequestIssue } from '../../schema/request-issue.js';

/** Bounds of a search. They are not configurable, because they protect shared resources. */
export const SEARCH_LIMITS = Object.freeze({
  /** Characters of the text. */
  length: 200,
  words: 5,
  /** Characters of a word. */
  wordLength: 64,
});

const CONTROL = /(?!\s)\p{Cc}/u;
const LETTER = /[\p{L}\p{N}]/u;

/** True for a text that has something to search for. */
export function hasLetter(text: string): boolean {
  return LETTER.test(text);
}

/** The problem of a search. */
export type SearchProblem = Pick<RequestIssue, 'code' | 'detail'>;

/** The problem of a text, for attributes and vectors; undefined where there is none. */
export function textProblem(
  parameter: string,
  text: string,
  words: readonly string[],
): SearchProblem | undefined {
  const { length, words: most, wordLength } = SEARCH_LIMITS;
  if (CONTROL.test(text)) {
    return { code: 'search.empty', detail: `Parameter '${parameter}' has a control character; send words.` };
  }
  if (!hasLetter(text)) {
    return {
      code: 'search.empty',
      detail: `Parameter '${parameter}' is ${quote(text)}, which has no letter and no digit; send words, or leave it out.`,
    };
  }
  const found = lengthOf(text);
  if (found > length) {
    return {
      code: 'search.too-long',
      detail: `Parameter '${parameter}' takes at most ${length} characters (found ${found}).`,
    };
  }
  const long = words.find((word) => lengthOf(word) > wordLength);
  if (long !== undefined) {
    return {
      code: 'search.too-long',
      detail: `A word of parameter '${parameter}' has at most ${wordLength} characters; ${quote(long)} has ${lengthOf(long)}.`,
    };
  }
  if (words.length <= most) return undefined;
  return {
    code: 'search.too-many',
    detail: `Parameter '${parameter}' takes at most ${most} words (found ${words.length}).`,
  };
}

/** The parts of a text between blanks. */
export function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

/** Length in code points, as a schema counts them. */
function lengthOf(text: string): number {
  return [...text].length;
}
