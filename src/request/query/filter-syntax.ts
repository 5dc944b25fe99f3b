/**
 * The syntax of `q`: RSQL (https://github.com/jirutka/rsql-parser), a superset of FIQL. One pass over the text, one
 * token at a time, with bounds on length, depth and number of comparisons, so that no text costs more than its length.
 * Names and values are only texts here; `parseFilter` finds their meaning.
 */
import type { RequestIssue } from '../../schema/request-issue.js';

/** Bounds of a filter. Not configurable: they are far above the needs of a client, and protect a shared server. */
export const FILTER_LIMITS = Object.freeze({
  /** Characters of `q`. */
  length: 2048,
  comparisons: 50,
  /** Conditions on related rows. */
  relations: 5,
  /** Nested parentheses. */
  depth: 8,
  listValues: 100,
  /** Comparisons of one attribute. */
  sameAttribute: 10,
  /** Characters of a pattern. */
  patternLength: 256,
  /** Wildcards in a pattern. */
  patternWildcards: 4,
});

/** A text from the filter, and where it stood. */
export interface Lexeme {
  readonly text: string;
  /** Offset in UTF-16 code units, from 0. */
  readonly position: number;
}

/** The operators that take a condition in the place of values: `reviews=any=(rating>=4;author==Ann)`. */
const QUANTIFIERS = { '=any=': 'any', '=none=': 'none' } as const;

/** A filter before its names and values are understood. */
export type SyntaxNode =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly SyntaxNode[] }
  | {
      readonly kind: 'any' | 'none';
      readonly selector: Lexeme;
      readonly operator: Lexeme;
      readonly condition: SyntaxNode;
    }
  | {
      readonly kind: 'comparison';
      readonly selector: Lexeme;
      readonly operator: Lexeme;
      readonly values: readonly Lexeme[];
      /** True where parentheses enclose the values. */
      readonly isList: boolean;
    };

/** The tokens, each at the parser's position. */
const TOKENS = {
  blanks: /[ \t]*/y,
  /** `,` and `;`, or a word by itself; right behind a value the word would be part of that value. */
  or: /[ \t]*(?:,|or(?=[ \t]))[ \t]*/y,
  and: /[ \t]*(?:;|and(?=[ \t]))[ \t]*/y,
  open: /\([ \t]*/y,
  comma: /[ \t]*,[ \t]*/y,
  close: /[ \t]*\)/y,
  selector: /[A-Za-z0-9_.]+/y,
  /**
   * `==`, `!=`, `<`, `<=`, `>`, `>=`, or a word between two `=`. A word that lacks its second `=` is a value behind a single one, as in
   * `title=Hello`, unless a value follows, as in `id=in(1,2)`.
   */
  operator: /=[A-Za-z-]*(?:=|(?=[ \t(]))|=|[!<>~]=?/y,
  /** A backslash takes the next character as it is; it is special inside quotes only. */
  quoted: /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/sy,
  /** Up to the characters that RSQL reserves, and blanks. */
  unquoted: /[^"'();,=!~<> \t]+/y,
} as const;

/** Word of other languages, for which `q` has operators. */
const NOT = /^not$/i;
const NEGATIONS =
  'a comparison; q has no NOT: write the opposite of each, with != =out= =notbetween= =notlike= =inotlike= =isnull= or =none=';

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

/** A quoted value, also one that is not closed. Texts of rows have line breaks. */
const QUOTED = /(["'])(?:(?!\1)[^\\]|\\.?)*(?:\1|$)/gs;

/** Most texts, which have nothing to check but their length. */
const PRINTABLE = /^[\t -~]*$/;

function checkText(text: string): void {
  if (text.length > FILTER_LIMITS.length) {
    const detail = `At most ${FILTER_LIMITS.length} characters are allowed (found ${text.length}).`;
    throw new FilterError('q.too-long', FILTER_LIMITS.length, detail);
  }
  if (PRINTABLE.test(text)) return;
  const plain = text.replace(QUOTED, (quoted) => quoted.replace(/[\r\n]/g, ' '));
  for (let position = 0; position < text.length; position += 1) {
    const code = plain.charCodeAt(position);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) {
      throw new FilterError('q.syntax', position, `Unexpected control character at position ${position}.`);
    }
  }
  const halfPair = text.search(/\p{Surrogate}/u);
  if (halfPair >= 0) throw new FilterError('q.encoding', halfPair, 'q is not well-formed text.');
}

class FilterParser {
  #position = 0;
  #depth = 0;
  #comparisons = 0;

  constructor(private readonly text: string) {}

  parse(): SyntaxNode | null {
    this.#take('blanks');
    if (this.#isAtEnd()) return null;
    const filter = this.#or();
    this.#take('blanks');
    if (!this.#isAtEnd()) this.#unexpectedBehind("',', ';' or the end");
    return filter;
  }

  #or(): SyntaxNode {
    return this.#junction('or', () => this.#junction('and', () => this.#term()));
  }

  #junction(kind: 'and' | 'or', operand: () => SyntaxNode): SyntaxNode {
    const operands = [operand()];
    while (this.#take(kind)) operands.push(operand());
    const [only] = operands;
    return operands.length === 1 && only ? only : { kind, operands };
  }

  #term(): SyntaxNode {
    const opening = this.#take('open');
    return opening ? this.#group(opening) : this.#comparison();
  }

  #group(opening: Lexeme): SyntaxNode {
    this.#depth += 1;
    if (this.#depth > FILTER_LIMITS.depth) {
      const detail = `At most ${FILTER_LIMITS.depth} nested parentheses are allowed.`;
      throw new FilterError('q.too-deep', opening.position, detail);
    }
    const inner = this.#or();
    this.#close(opening, "',', ';' or ')'");
    this.#depth -= 1;
    return inner;
  }

  #comparison(): SyntaxNode {
    if (this.text[this.#position] === '!') this.#unexpected(NEGATIONS);
    const selector = this.#take('selector') ?? this.#unexpected('a field name');
    this.#take('blanks');
    const operator =
      this.#take('operator') ??
      this.#unexpected(NOT.test(selector.text) ? NEGATIONS : 'an operator, such as ==');
    this.#take('blanks');
    this.#comparisons += 1;
    if (this.#comparisons > FILTER_LIMITS.comparisons) {
      const detail = `At most ${FILTER_LIMITS.comparisons} comparisons are allowed.`;
      throw new FilterError('q.too-complex', selector.position, detail);
    }
    const opening = this.#take('open');
    if (Object.hasOwn(QUANTIFIERS, operator.text)) {
      const kind = QUANTIFIERS[operator.text as keyof typeof QUANTIFIERS];
      const condition = opening ? this.#group(opening) : this.#unexpected("'(' and a condition");
      return { kind, selector, operator, condition };
    }
    const values = opening ? this.#list(opening) : [this.#value()];
    return { kind: 'comparison', selector, operator, values, isList: opening !== null };
  }

  #list(opening: Lexeme): Lexeme[] {
    const values: Lexeme[] = [];
    do {
      values.push(this.#value());
      if (values.length > FILTER_LIMITS.listValues) {
        const detail = `At most ${FILTER_LIMITS.listValues} values are allowed in a list.`;
        throw new FilterError('q.list-too-long', opening.position, detail);
      }
    } while (this.#take('comma'));
    this.#close(opening, "',' or ')'");
    return values;
  }

  #value(): Lexeme {
    const quoted = this.#take('quoted');
    if (quoted) return { ...quoted, text: quoted.text.slice(1, -1).replace(/\\(.)/gs, '$1') };
    const position = this.#position;
    if (/["']/.test(this.text[position] ?? '')) {
      const detail = `The quote opened at position ${position} is not closed.`;
      throw new FilterError('q.unclosed', position, detail);
    }
    return this.#take('unquoted') ?? this.#unexpected('a value');
  }

  #close({ position }: Lexeme, expected: string): void {
    if (this.#take('close')) return;
    this.#take('blanks');
    if (!this.#isAtEnd()) this.#unexpectedBehind(expected);
    throw new FilterError('q.unclosed', position, `'(' opened at position ${position} is not closed.`);
  }

  /** The token of this kind at the position; null where it is another one. */
  #take(kind: keyof typeof TOKENS): Lexeme | null {
    const pattern = TOKENS[kind];
    const position = this.#position;
    pattern.lastIndex = position;
    if (!pattern.test(this.text)) return null;
    this.#position = pattern.lastIndex;
    return { text: this.text.slice(position, this.#position), position };
  }

  #isAtEnd(): boolean {
    return this.#position >= this.text.length;
  }

  /** Behind a value. `name==San Marino` may be one value, too. */
  #unexpectedBehind(expected: string): never {
    const isWord = /^[ \t][^"'();,=!~<>]/.test(this.text.slice(this.#position - 1));
    this.#unexpected(isWord ? `${expected}; a value with blanks stands in quotes` : expected);
  }

  #unexpected(expected: string): never {
    const found = this.#isAtEnd()
      ? 'end'
      : `'${String.fromCodePoint(this.text.codePointAt(this.#position) ?? 0)}'`;
    const detail = `Unexpected ${found} at position ${this.#position}; expected ${expected}.`;
    throw new FilterError('q.syntax', this.#position, detail);
  }
}

/** The codes of filter errors; they are part of the API. */
export type FilterErrorCode =
  | 'q.syntax'
  | 'q.unclosed'
  | 'q.unknown-field'
  | 'q.unknown-operator'
  | 'q.operator-not-allowed'
  | 'q.to-many'
  | 'q.arity'
  | 'q.type'
  | 'q.range'
  | 'q.bad-escape'
  | 'q.too-long'
  | 'q.too-complex'
  | 'q.too-deep'
  | 'q.list-too-long'
  | 'q.encoding';

/** One problem of a filter. */
export class FilterError extends Error {
  override readonly name = 'FilterError';

  constructor(
    readonly code: FilterErrorCode,
    /** Offset in `q` in UTF-16 code units, from 0. */
    readonly position: number,
    detail: string,
    private readonly allowed?: readonly string[],
  ) {
    super(detail);
  }

  /** The problem as a member of `errors` in an answer. */
  toIssue(): RequestIssue {
    const { code, position, message: detail, allowed } = this;
    return { parameter: 'q', code, detail, position, ...(allowed && { allowed }) };
  }
}
