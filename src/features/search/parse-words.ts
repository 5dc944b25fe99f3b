/** The text of `search` -> its words, and the condition that each of them is there. */
import { sqlCondition } from '../../operation/predicates.js';
import type { Filter } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import type { RequestIssue } from '../../schema/request-issue.js';

/** Bounds of a search. Not configurable: what they protect is shared. */
export const SEARCH_LIMITS = Object.freeze({
  /** Characters of the text. */
  length: 200,
  words: 5,
  /** Characters of a word. */
  wordLength: 64,
});

const BLANKS = /\s+/u;
const CONTROL = /(?!\s)\p{Cc}/u;
const LETTER = /[\p{L}\p{N}]/u;

/** Three letters or digits in a row, of which a trigram index finds the rows. */
const TRIGRAM = /[\p{L}\p{M}\p{N}]{3}/u;

/** Two letters of scripts whose words are as short as that. No trigram index serves them. */
const SYLLABLES = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]{2}/u;

/** Reads the words of a search. What is wrong is added to `issues`, and undefined is read. */
export function readWords(
  parameter: string,
  text: string,
  issues: RequestIssue[],
): readonly string[] | undefined {
  const problem = wordsProblem(parameter, text);
  if (!problem) return wordsOf(text);
  issues.push({ parameter, ...problem });
  return undefined;
}

type Problem = Readonly<Record<'code' | 'detail', string>>;

function wordsProblem(parameter: string, text: string): Problem | undefined {
  const { length, words: most, wordLength } = SEARCH_LIMITS;
  const words = wordsOf(text);
  if (CONTROL.test(text)) {
    return {
      code: 'search.empty',
      detail: `Parameter '${parameter}' has a control character; send words.`,
    };
  }
  if (!LETTER.test(text)) {
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
  if (words.length > most) {
    return {
      code: 'search.too-many',
      detail: `Parameter '${parameter}' takes at most ${most} words (found ${words.length}).`,
    };
  }
  if (words.some((word) => TRIGRAM.test(word) || SYLLABLES.test(word))) return undefined;
  return {
    code: 'search.short',
    detail: `Parameter '${parameter}' needs a word with three letters or digits in a row, and ${quote(text)} has none.`,
  };
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.split(BLANKS).filter((word) => word !== ''))];
}

/** In code points, as a schema counts them. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** The rows in which each word occurs in one of the attributes. The text of any type of text has the same index. */
export function wordsCondition(words: readonly string[], attributes: readonly string[]): Filter {
  const found = words.map((word): Filter => {
    const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
    const each = attributes.map((attribute): Filter => sqlCondition`${{ attribute }}::text ILIKE ${pattern}`);
    return Object.freeze({ kind: 'or', operands: Object.freeze(each) });
  });
  return Object.freeze({ kind: 'and', operands: Object.freeze(found) });
}
