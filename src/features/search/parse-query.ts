/** The text of `search` -> a query of PostgreSQL's full text search. `websearch_to_tsquery` parses it, and takes anything. */
import type { FragmentFilter } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';
import type { TextSearch } from './search-options.js';
import { hasLetter, type SearchProblem, textProblem, wordsOf } from './search-text.js';

/** A phrase in quotes, or a word; either with a minus before it. */
const OPERANDS = /-*"[^"]*"?|[^\s"]+/gu;
const OR = /^or$/iu;
/** It is about the operand behind it. */
const MINUS = /^-+$/;
/** Letters and digits alone: PostgreSQL takes none of them for a sign of its own. */
const PREFIX = /^[\p{L}\p{M}\p{N}]{2,}$/u;

/** The problem of a search by a vector; undefined where there is none. */
export function queryProblem(parameter: string, text: string): SearchProblem | undefined {
  const words = wordsOf(text).filter((word) => hasLetter(word) && !OR.test(word));
  const problem = textProblem(parameter, text, words);
  // A query of negated words alone would find nearly all rows, without an index.
  if (problem || alternativesOf(text).every((operands) => operands.some(isPositive))) return problem;
  return {
    code: 'search.negative',
    detail: `Parameter '${parameter}' says which words are not there; add one that is, before or behind each 'or'.`,
  };
}

/** Alternatives between the words `or`, as PostgreSQL reads them: an `or` without a word before or behind it is a word. */
function alternativesOf(text: string): readonly (readonly string[])[] {
  const found: string[][] = [[]];
  // Other signs between blanks are passed over.
  const operands = text.match(OPERANDS)?.filter((each) => hasLetter(each) || MINUS.test(each)) ?? [];
  for (const [index, operand] of operands.entries()) {
    const current = found.at(-1) as string[];
    if (OR.test(operand) && current.length > 0 && index < operands.length - 1) found.push([]);
    else current.push(operand);
  }
  return found;
}

function isPositive(operand: string, index: number, operands: readonly string[]): boolean {
  return hasLetter(operand) && !operand.startsWith('-') && !MINUS.test(operands[index - 1] ?? '');
}

/** Pieces of SQL: texts, and values and columns between them. */
type Piece = string | FragmentFilter['parts'][number] | { readonly value: string };

/**
 * The rows whose vector a query matches. One of stop words alone matches none, and so does one that has only words left which must not
 * be there: no index serves it.
 */
export function queryCondition({ vector, config, prefix }: TextSearch, text: string): FragmentFilter {
  const query = queryOf(text, config, prefix);
  return fragmentOf([vector, ' @@ ', ...query, ' AND querytree(', ...query, ") NOT IN ('', 'T')"]);
}

/** The rank of a row: its vector has more of the words, or has them nearer to one another. */
export function queryRank({ vector, config, prefix }: TextSearch, text: string): FragmentFilter {
  return fragmentOf(['ts_rank_cd(', vector, ', ', ...queryOf(text, config, prefix), ')']);
}

/** The query of a search, and beside it the one whose last word is the beginning of a word. */
function queryOf(text: string, name: string, isPrefix: boolean): readonly Piece[] {
  const config = `${quoteText(name)}::regconfig`;
  const parse = (part: string): readonly Piece[] => [
    `websearch_to_tsquery(${config}, `,
    { value: part },
    ')',
  ];
  const operands = alternativesOf(text).at(-1) ?? [];
  const last = operands.at(-1) ?? '';
  if (!isPrefix || !PREFIX.test(last) || !isPositive(last, operands.length - 1, operands)) return parse(text);
  const rest = parse(operands.slice(0, -1).join(' '));
  const beginning = [`to_tsquery(${config}, `, { value: `'${last}':*` }, ')'];
  return ['(', ...parse(text), ' || (', ...rest, ' && ', ...beginning, '))'];
}

function fragmentOf(pieces: readonly Piece[]): FragmentFilter {
  const texts = [''];
  const parts: FragmentFilter['parts'][number][] = [];
  for (const piece of pieces) {
    if (typeof piece === 'string') texts[texts.length - 1] += piece;
    else {
      parts.push('value' in piece ? piece.value : piece);
      texts.push('');
    }
  }
  return Object.freeze({ kind: 'sql', texts: Object.freeze(texts), parts: Object.freeze(parts) });
}
