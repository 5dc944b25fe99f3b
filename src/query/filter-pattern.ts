/** The patterns of `=like=` and its relatives: `*` is any run of characters, and nothing else is special. */
import { FilterError } from './filter-error.js';
import { FILTER_LIMITS, type Lexeme } from './filter-syntax.js';

/**
 * A pattern -> the text of SQL's LIKE with a backslash as its escape character. `\*` is a star and `\\` a backslash;
 * `%` and `_` mean themselves.
 *
 * @throws FilterError
 */
export function compilePattern({ text, position }: Lexeme): string {
  if (text.length > FILTER_LIMITS.patternLength) {
    throw new FilterError('q.range', position, {
      detail: `A pattern has at most ${FILTER_LIMITS.patternLength} characters (found ${text.length}).`,
    });
  }
  const pattern = text.replace(/\\(.?)|[*%_]/gsu, (match, escaped: string | undefined) => {
    if (match === '*') return '%';
    if (escaped === undefined || escaped === '\\') return `\\${match.at(-1)}`;
    if (escaped === '*') return '*';
    throw new FilterError('q.bad-escape', position, {
      detail: `'${match}' is not a valid escape in a pattern; use \\* or \\\\.`,
    });
  });
  const wildcards = text.replace(/\\./gsu, '').split('*').length - 1;
  if (wildcards > FILTER_LIMITS.patternWildcards) {
    throw new FilterError('q.too-complex', position, {
      detail: `A pattern has at most ${FILTER_LIMITS.patternWildcards} wildcards (found ${wildcards}).`,
    });
  }
  if (/^\*+$/.test(text)) {
    throw new FilterError('q.bad-escape', position, {
      detail: 'A pattern of wildcards alone matches every text; use =isnull=false.',
    });
  }
  return pattern;
}
