/** The meaning of a filter, computed in memory: SQL's three-valued logic over rows of texts. */

/** A row: the text of each attribute, or null. */
export type TextRow = Readonly<Record<string, string | null>>;

/** A filter as a test makes it. */
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | {
      readonly kind: 'comparison';
      readonly attribute: string;
      readonly operator: string;
      readonly values: readonly string[];
    };

/** Compares two values of a type: a positive result means that the first one is larger. */
export interface Comparator {
  (a: string, b: string): number;
  /** True where a value equals that of a filter, for types whose equal values have several texts. */
  readonly isEqual?: (value: string, other: string) => boolean;
}

/** True, false, or null for unknown. */
type Truth = boolean | null;

/** True where a row matches. */
export function evaluate(
  expression: Expression,
  row: TextRow,
  comparators: Readonly<Record<string, Comparator>>,
): Truth {
  if (expression.kind !== 'comparison') {
    const truths = expression.operands.map((operand) => evaluate(operand, row, comparators));
    const decisive = expression.kind === 'or';
    if (truths.includes(decisive)) return decisive;
    return truths.includes(null) ? null : !decisive;
  }
  const { attribute, operator, values } = expression;
  const value = row[attribute] ?? null;
  const [first = '', second = ''] = values;
  if (operator === '=isnull=') return (value === null) === (first === 'true');
  if (value === null) return null;
  const compare = comparators[attribute];
  if (!compare) throw new Error(`No comparator for ${attribute}`);
  return holds(operator, value, { first, second, values, compare });
}

interface Operands {
  readonly first: string;
  readonly second: string;
  readonly values: readonly string[];
  readonly compare: Comparator;
}

function holds(operator: string, value: string, { first, second, values, compare }: Operands): boolean {
  const { isEqual = (a, b) => compare(a, b) === 0 } = compare;
  switch (operator) {
    case '==':
      return isEqual(value, first);
    case '!=':
      return !isEqual(value, first);
    case '=lt=':
      return compare(value, first) < 0;
    case '=le=':
      return compare(value, first) <= 0;
    case '=gt=':
      return compare(value, first) > 0;
    case '=ge=':
      return compare(value, first) >= 0;
    case '=in=':
      return values.some((each) => isEqual(value, each));
    case '=out=':
      return values.every((each) => !isEqual(value, each));
    case '=contains=':
      return values.every((each) => hasElement(value, each, compare));
    case '=overlaps=':
      return values.some((each) => hasElement(value, each, compare));
    case '=isempty=':
      return (value === '{}') === (first === 'true');
    case '=between=':
      return compare(value, first) >= 0 && compare(value, second) <= 0;
    case '=notbetween=':
      return compare(value, first) < 0 || compare(value, second) > 0;
    case '=like=':
      return matches([...value], patternOf(first));
    case '=notlike=':
      return !matches([...value], patternOf(first));
    case '=ilike=':
      return matches([...lower(value)], patternOf(lower(first)));
    case '=inotlike=':
      return !matches([...lower(value)], patternOf(lower(first)));
    default:
      throw new Error(`No such operator: ${operator}`);
  }
}

/** NULL is equal to nothing. */
function hasElement(array: string, wanted: string, compare: Comparator): boolean {
  const elements: readonly (string | null)[] = JSON.parse(`[${array.slice(1, -1)}]`);
  return elements.some((element) => element !== null && compare(element, wanted) === 0);
}

const ANY = Symbol('any run of characters');

function patternOf(text: string): (string | typeof ANY)[] {
  const characters = [...text];
  const pattern: (string | typeof ANY)[] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] as string;
    if (character === '\\') {
      index += 1;
      pattern.push(characters[index] as string);
    } else pattern.push(character === '*' ? ANY : character);
  }
  return pattern;
}

function matches(text: readonly string[], [head, ...rest]: readonly (string | typeof ANY)[]): boolean {
  if (head === undefined) return text.length === 0;
  if (head !== ANY) return text[0] === head && matches(text.slice(1), rest);
  return text.some((_, index) => matches(text.slice(index), rest)) || matches([], rest);
}

/** Under the C collation only ASCII letters have two cases. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
