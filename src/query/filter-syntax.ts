/**
 * The syntax of `q`: RSQL (https://github.com/jirutka/rsql-parser), a superset of FIQL. One pass over the text, one
 * token at a time, with bounds on length, depth and number of comparisons, so that no text costs more than its length.
 * Names and values are only texts here; what they mean is decided by `parseFilter`.
 */
import { FilterError } from './filter-error.js';

/** Bounds of a filter. Not configurable: they are far above what a client needs, and what they protect is shared. */
export const FILTER_LIMITS = Object.freeze({
  /** Characters of `q`. */
  length: 2048,
  comparisons: 50,
  /** Nested parentheses. */
  depth: 8,
  listValues: 100,
  /** Comparisons of one attribute. */
  sameAttribute: 10,
  /** Characters of a pattern. */
  patternLength: 256,
  /** Wildcards in a pattern. */
  patternWildcards: 4,
  /** Characters of a text compared with a column that has no length of its own. */
  textLength: 256,
});

/** A text from the filter, and where it stood. */
export interface Lexeme {
  readonly text: string;
  /** Offset in UTF-16 code units, from 0. */
  readonly position: number;
}

/** A filter before its names and values are understood. */
export type SyntaxNode =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly SyntaxNode[] }
  | {
      readonly kind: 'comparison';
      readonly selector: Lexeme;
      readonly operator: Lexeme;
      readonly values: readonly Lexeme[];
      /** Whether the values stood in parentheses. */
      readonly isList: boolean;
    };

/** Characters that end an unquoted value (RSQL's `reserved`, and blanks). */
const RESERVED = new Set('"\'();,=!~<> \t');
const OPERATOR_CHARACTERS = new Set('=!<>~');

/**
 * Parses a filter. A blank text is no filter: null.
 *
 * @throws FilterError with a position, for the first thing that is wrong
 */
export function parseFilterSyntax(text: string): SyntaxNode | null {
  checkText(text);
  const parser = new FilterParser(text);
  return parser.parse();
}

function checkText(text: string): void {
  if (text.length > FILTER_LIMITS.length) {
    throw new FilterError('q.too-long', FILTER_LIMITS.length, {
      detail: `At most ${FILTER_LIMITS.length} characters are allowed (found ${text.length}).`,
    });
  }
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) {
      throw new FilterError('q.syntax', position, {
        detail: `Unexpected control character at position ${position}.`,
      });
    }
  }
  const halfPair = text.search(/\p{Surrogate}/u);
  if (halfPair >= 0) throw new FilterError('q.encoding', halfPair, { detail: 'q is not well-formed text.' });
}

class FilterParser {
  readonly #text: string;
  #position = 0;
  #depth = 0;
  #comparisons = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): SyntaxNode | null {
    this.#skipBlanks();
    if (this.#isAtEnd()) return null;
    const filter = this.#or();
    this.#skipBlanks();
    if (!this.#isAtEnd()) this.#unexpected("',', ';' or the end");
    return filter;
  }

  #or(): SyntaxNode {
    return this.#junction('or', ',', () => this.#and());
  }

  #and(): SyntaxNode {
    return this.#junction('and', ';', () => this.#term());
  }

  #junction(kind: 'and' | 'or', symbol: string, operand: () => SyntaxNode): SyntaxNode {
    const operands = [operand()];
    while (this.#takeSeparator(kind, symbol)) operands.push(operand());
    const [only] = operands;
    return operands.length === 1 && only ? only : { kind, operands };
  }

  /** `,` and `;`, blanks around them or not, or the words `or` and `and`; right behind a value they would be part of it. */
  #takeSeparator(word: string, symbol: string): boolean {
    const start = this.#position;
    this.#skipBlanks();
    if (this.#peek() === symbol) {
      this.#position += 1;
      this.#skipBlanks();
      return true;
    }
    const after = this.#text[this.#position + word.length];
    if (this.#text.startsWith(word, this.#position) && (after === ' ' || after === '\t')) {
      this.#position += word.length;
      this.#skipBlanks();
      return true;
    }
    this.#position = start;
    return false;
  }

  #term(): SyntaxNode {
    if (this.#peek() !== '(') return this.#comparison();
    const opening = this.#position;
    this.#depth += 1;
    if (this.#depth > FILTER_LIMITS.depth) {
      throw new FilterError('q.too-deep', opening, {
        detail: `At most ${FILTER_LIMITS.depth} nested parentheses are allowed.`,
      });
    }
    this.#position += 1;
    this.#skipBlanks();
    const inner = this.#or();
    this.#skipBlanks();
    if (this.#isAtEnd()) this.#unclosed('(', opening);
    if (this.#peek() !== ')') this.#unexpected("',', ';' or ')'");
    this.#position += 1;
    this.#depth -= 1;
    return inner;
  }

  #comparison(): SyntaxNode {
    const selector = this.#selector();
    this.#skipBlanks();
    const operator = this.#operator();
    this.#skipBlanks();
    this.#comparisons += 1;
    if (this.#comparisons > FILTER_LIMITS.comparisons) {
      throw new FilterError('q.too-complex', selector.position, {
        detail: `At most ${FILTER_LIMITS.comparisons} comparisons are allowed.`,
      });
    }
    if (this.#peek() === '(')
      return { kind: 'comparison', selector, operator, values: this.#list(), isList: true };
    return { kind: 'comparison', selector, operator, values: [this.#value()], isList: false };
  }

  #selector(): Lexeme {
    const position = this.#position;
    while (!this.#isAtEnd() && /[A-Za-z0-9_.]/.test(this.#peek())) this.#position += 1;
    if (this.#position === position) this.#unexpected('a field name');
    return { text: this.#text.slice(position, this.#position), position };
  }

  /** `==`, `!=`, `<`, `<=`, `>`, `>=`, or a word between two `=`. */
  #operator(): Lexeme {
    const position = this.#position;
    const first = this.#peek();
    if (!OPERATOR_CHARACTERS.has(first)) this.#unexpected('an operator');
    this.#position += 1;
    if (first === '=') while (/[A-Za-z-]/.test(this.#peek())) this.#position += 1;
    if (this.#peek() === '=') this.#position += 1;
    return { text: this.#text.slice(position, this.#position), position };
  }

  #list(): Lexeme[] {
    const opening = this.#position;
    const values: Lexeme[] = [];
    do {
      this.#position += 1;
      this.#skipBlanks();
      values.push(this.#value());
      if (values.length > FILTER_LIMITS.listValues) {
        throw new FilterError('q.list-too-long', opening, {
          detail: `At most ${FILTER_LIMITS.listValues} values are allowed in a list.`,
        });
      }
      this.#skipBlanks();
    } while (this.#peek() === ',');
    if (this.#isAtEnd()) this.#unclosed('(', opening);
    if (this.#peek() !== ')') this.#unexpected("',' or ')'");
    this.#position += 1;
    return values;
  }

  #value(): Lexeme {
    const quote = this.#peek();
    return quote === '"' || quote === "'" ? this.#quoted(quote) : this.#unquoted();
  }

  /** A backslash takes the next character as it is; it is special inside quotes only. */
  #quoted(quote: string): Lexeme {
    const position = this.#position;
    const pieces: string[] = [];
    this.#position += 1;
    while (this.#peek() !== quote) {
      if (this.#peek() === '\\') this.#position += 1;
      if (this.#isAtEnd()) {
        throw new FilterError('q.unclosed', position, {
          detail: `The quote opened at position ${position} is not closed.`,
        });
      }
      pieces.push(this.#peek());
      this.#position += 1;
    }
    this.#position += 1;
    return { text: pieces.join(''), position };
  }

  #unquoted(): Lexeme {
    const position = this.#position;
    while (!this.#isAtEnd() && !RESERVED.has(this.#peek())) this.#position += 1;
    if (this.#position === position) this.#unexpected('a value');
    return { text: this.#text.slice(position, this.#position), position };
  }

  #peek(): string {
    return this.#text[this.#position] ?? '';
  }

  #isAtEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  #skipBlanks(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#position += 1;
  }

  #unclosed(symbol: string, position: number): never {
    throw new FilterError('q.unclosed', position, {
      detail: `'${symbol}' opened at position ${position} is not closed.`,
    });
  }

  #unexpected(expected: string): never {
    const found = this.#isAtEnd()
      ? 'end'
      : `'${String.fromCodePoint(this.#text.codePointAt(this.#position) ?? 0)}'`;
    throw new FilterError('q.syntax', this.#position, {
      detail: `Unexpected ${found} at position ${this.#position}; expected ${expected}.`,
    });
  }
}
