/** TypeScript source -> tokens. Knows just enough to never take the inside of a comment or a literal for code. */

/** One token; of a string, `text` is what is between the quotes. */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex' | 'sign';
  readonly text: string;
  readonly line: number;
}

const BLANK = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|^#![^\n]*)+/y;
const STRING = /'((?:[^'\\\n]|\\[\s\S])*)'|"((?:[^"\\\n]|\\[\s\S])*)"/y;
const WORD = /[\p{ID_Continue}$@#]+/uy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** The text of a template up to its end or its next substitution. */
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;

/** Words after which a slash begins a regular expression; after any other word it divides. */
const BEFORE_REGEX = new Set(
  'return typeof case in of delete void throw new instanceof else do yield await'.split(' '),
);

/** Splits a source into its tokens, without comments. */
export function tokenize(source: string): readonly Token[] {
  return new Tokenizer(source).tokenize();
}

class Tokenizer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  /** One entry for each template around the position: how many braces are open in its current substitution. */
  readonly #openBraces: number[] = [];
  #position = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  tokenize(): readonly Token[] {
    this.#skipBlank();
    while (this.#position < this.#source.length) {
      this.#takeToken();
      this.#skipBlank();
    }
    return this.#tokens;
  }

  #skipBlank(): void {
    this.#countLines(this.#match(BLANK)?.[0] ?? '');
  }

  #takeToken(): void {
    const string = this.#match(STRING);
    if (string) {
      this.#add('string', string[1] ?? string[2] ?? '', string[0]);
      return;
    }
    const regex = mayBeginRegex(this.#tokens.at(-1)) && this.#match(REGEX);
    const literal = regex || this.#match(WORD);
    if (literal) this.#add(regex ? 'regex' : 'word', literal[0], literal[0]);
    else this.#takeSign();
  }

  #takeSign(): void {
    const sign = this.#source.charAt(this.#position);
    this.#position += 1;
    const depth = this.#openBraces.at(-1);
    const endsSubstitution = sign === '}' && depth === 0;
    if (endsSubstitution) this.#openBraces.pop();
    if (endsSubstitution || sign === '`') {
      this.#takeTemplateText(sign);
      return;
    }
    if (depth !== undefined && sign === '{') this.#openBraces.splice(-1, 1, depth + 1);
    if (depth !== undefined && sign === '}') this.#openBraces.splice(-1, 1, depth - 1);
    this.#add('sign', sign, sign);
  }

  #takeTemplateText(opening: string): void {
    const text = this.#match(TEMPLATE_TEXT)?.[0];
    if (text === undefined) throw new Error(`The template in line ${this.#line} has no end`);
    this.#add('template', opening + text, text);
    if (text.endsWith('${')) this.#openBraces.push(0);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#source);
    if (match) this.#position = pattern.lastIndex;
    return match;
  }

  #add(kind: Token['kind'], text: string, raw: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
    this.#countLines(raw);
  }

  #countLines(raw: string): void {
    this.#line += raw.split('\n').length - 1;
  }
}

function mayBeginRegex(previous: Token | undefined): boolean {
  if (!previous) return true;
  if (previous.kind === 'word') return BEFORE_REGEX.has(previous.text);
  if (previous.kind === 'template') return previous.text.endsWith('${');
  return previous.kind === 'sign' && !')]}'.includes(previous.text);
}
