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
  const pieces: string[] = [];
  let wildcards = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] as string;
    if (character === '*') {
      wildcards += 1;
      pieces.push('%');
    } else if (character === '\\') {
      index += 1;
      pieces.push(escapedCharacter(text.codePointAt(index), position));
    } else pieces.push(literal(character));
  }
  checkWildcards(wildcards, pieces, position);
  return pieces.join('');
}

function escapedCharacter(codePoint: number | undefined, position: number): string {
  const character = codePoint === undefined ? '' : String.fromCodePoint(codePoint);
  if (character === '*' || character === '\\') return literal(character);
  throw new FilterError('q.bad-escape', position, {
    detail: `'\\${character}' is not a valid escape in a pattern; use \\* or \\\\.`,
  });
}

function literal(character: string): string {
  return character === '%' || character === '_' || character === '\\' ? `\\${character}` : character;
}

function checkWildcards(wildcards: number, pieces: readonly string[], position: number): void {
  if (wildcards > FILTER_LIMITS.patternWildcards) {
    throw new FilterError('q.too-complex', position, {
      detail: `A pattern has at most ${FILTER_LIMITS.patternWildcards} wildcards (found ${wildcards}).`,
    });
  }
  if (wildcards > 0 && wildcards === pieces.length) {
    throw new FilterError('q.bad-escape', position, {
      detail: 'A pattern of wildcards alone matches every text; use =isnull=false.',
    });
  }
}
