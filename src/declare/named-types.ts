/** Types of PostgreSQL that Sequelize has no name for, and whose values are the texts that PostgreSQL writes. */

/** Conditions, bodies and answers that values of a type may be in. */
export interface NamedForm {
  /** The conditions of filters: NULL alone, also equality, or also an order. */
  readonly compared: 'null' | 'equal' | 'ordered';
  /** True for a text that PostgreSQL reads as a value, all of it. Default: PostgreSQL decides. */
  readonly holds?: (text: string) => boolean;
  /** A value in a sentence. Default: a text. */
  readonly noun?: string;
  readonly examples?: readonly string[];
  /** Why values are not compared, as a sentence. */
  readonly reason?: string;
  /** True where no body may set a value. */
  readonly isReadOnly?: true;
  /** True where answers show no value, unless a decorator or a schema does. */
  readonly isHidden?: true;
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const ZONED =
  /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|24:00(?::00)?)(?:Z|[+-](?:0\d|1[0-5])(?::[0-5]\d){0,2})$/;
const MAX_NAME_BYTES = 63;

const AREA: NamedForm = {
  compared: 'null',
  reason: 'PostgreSQL compares the areas of such values, and not the values.',
};
const SHAPE: NamedForm = { compared: 'null', reason: 'PostgreSQL has no exact equality of such values.' };
const SEARCH: NamedForm = {
  compared: 'null',
  reason: 'A search is no comparison.',
  isReadOnly: true,
  isHidden: true,
};
const OBJECT: NamedForm = {
  compared: 'null',
  reason: 'PostgreSQL compares the numbers of such objects.',
  isReadOnly: true,
};
const BOOK: NamedForm = {
  compared: 'equal',
  holds: matches(/^[0-9X-]{8,18}!?$/),
  noun: 'a number of a book or product with its check digit',
  examples: ['0-306-40615-2'],
};

/** Types of the same form. */
function alike<N extends string>(names: readonly N[], form: NamedForm): Readonly<Record<N, NamedForm>> {
  return Object.fromEntries(names.map((name) => [name, form])) as Record<N, NamedForm>;
}

const ALIKE = {
  ...alike(['point', 'line', 'lseg', 'polygon'], SHAPE),
  ...alike(['box', 'circle'], AREA),
  ...alike(['tsvector', 'tsquery'], SEARCH),
  ...alike(['regclass', 'regtype', 'regproc', 'regprocedure', 'regoper', 'regrole', 'regnamespace'], OBJECT),
  ...alike(['isbn', 'isbn13', 'issn', 'issn13', 'ismn', 'ismn13', 'ean13', 'upc'], BOOK),
};

/** By the names that PostgreSQL has for them. */
const FORMS = {
  ...ALIKE,
  'time with time zone': {
    compared: 'equal',
    holds: matches(ZONED),
    noun: 'a time with its offset',
    examples: ['08:00:00+02'],
  },
  xml: { compared: 'null', reason: 'PostgreSQL has no equality of XML.' },
  path: { compared: 'null', reason: 'PostgreSQL compares the number of points of paths.' },
  cube: { compared: 'null', reason: 'Cubes of other dimensions cannot be compared.' },
  // PostgreSQL cuts longer texts, and finds the rest.
  '"char"': {
    compared: 'ordered',
    holds: matches(/^[\0-\x7f]?$/),
    noun: 'one character of ASCII',
    examples: ['a'],
    isReadOnly: true,
  },
  name: {
    compared: 'ordered',
    holds: (text) => Buffer.byteLength(text) <= MAX_NAME_BYTES,
    noun: `a name of at most ${MAX_NAME_BYTES} bytes`,
    examples: ['name'],
    isReadOnly: true,
  },
  xid8: {
    compared: 'ordered',
    holds: matches(/^\d{1,19}$/),
    noun: 'an integer',
    examples: ['7'],
    isReadOnly: true,
  },
  pg_lsn: {
    compared: 'ordered',
    holds: matches(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i),
    noun: 'a position such as 16/B374D848',
    examples: ['16/B374D848'],
    isReadOnly: true,
  },
  // Before PostgreSQL 16 a label has no hyphen.
  ltree: {
    compared: 'ordered',
    holds: matches(/^(?:\w+(?:\.\w+)*)?$/),
    noun: 'a path of labels of letters, digits and _',
    examples: ['top.science'],
  },
} as const satisfies Readonly<Record<string, NamedForm>>;

/** A type by the name that PostgreSQL has for it. */
export type NamedType = keyof typeof FORMS;

/** The form of a type. */
export function namedForm(name: NamedType): NamedForm {
  return FORMS[name];
}

/** The type that a name means, as the declaration of a column has it: `timetz(3)`. */
export function namedTypeOf(sqlType: string): NamedType | undefined {
  const name = sqlType.replace(/ ?\(\d+\)/, '');
  const full = name === 'timetz' ? 'time with time zone' : name;
  return Object.hasOwn(FORMS, full) ? (full as NamedType) : undefined;
}
