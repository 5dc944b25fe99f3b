/** A piece of SQL with its values apart from it: text around placeholders, and what goes into them. */

/** SQL text and values; there is one text more than there are values. */
export interface SqlFragment {
  readonly texts: readonly string[];
  /** In the text form of the type they are compared with; PostgreSQL infers the type from the other side. */
  readonly values: readonly string[];
}

/**
 * A fragment from a template. A string that is interpolated is a value; a fragment becomes part of this one.
 *
 * @example sql`${raw('"age"')} > ${'5'}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (string | SqlFragment)[]): SqlFragment {
  let fragment = raw(strings[0] ?? '');
  parts.forEach((part, index) => {
    const value = typeof part === 'string' ? { texts: ['', ''], values: [part] } : part;
    fragment = concatenate([fragment, value, raw(strings[index + 1] ?? '')]);
  });
  return fragment;
}

/** SQL text without values. It must come from a model, never from a request. */
export function raw(text: string): SqlFragment {
  return { texts: [text], values: [] };
}

/** Several fragments with a separator between them. */
export function joinSql(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  return concatenate(
    fragments.flatMap((fragment, index) => (index === 0 ? [fragment] : [raw(separator), fragment])),
  );
}

function concatenate(fragments: readonly SqlFragment[]): SqlFragment {
  const texts = [''];
  for (const fragment of fragments) {
    const [first = '', ...rest] = fragment.texts;
    texts.push((texts.pop() ?? '') + first, ...rest);
  }
  return { texts, values: fragments.flatMap(({ values }) => values) };
}

/** The SQL text with something in place of each value, such as `$1` or a quoted literal. */
export function renderSql(
  { texts, values }: SqlFragment,
  placeholder: (value: string, index: number) => string,
): string {
  return texts.reduce(
    (text, next, index) => text + placeholder(values[index - 1] as string, index - 1) + next,
  );
}

/** A quoted identifier. Sequelize leaves quotes in a name out, everywhere, so there is none in what it means. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '')}"`;
}
