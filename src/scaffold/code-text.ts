/** Texts of a database -> texts of TypeScript: whatever a name, a label or a comment holds, none of it becomes code. */

/** Characters of a line. */
const LONGEST = 100;

/** Characters that end a line, or that editors do not show, or show elsewhere. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A literal with the quotes that formatters choose. */
export function quoted(text: string): string {
  const quote = count(text, "'") > count(text, '"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll(HIDDEN, (sign) =>
      [...Array(sign.length).keys()]
        .map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join(''),
    );
  return `${quote}${escaped}${quote}`;
}

/** The text of such a literal, whichever quotes a formatter has chosen. */
export function textOf(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\\(?:u([\da-f]{4})|n|(.))/g, (_, code, sign) =>
      code ? String.fromCharCode(Number.parseInt(code, 16)) : (sign ?? '\n'),
    );
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}

/** A literal of an array of texts, on a line for each where one is too long. */
export function quotedList(texts: readonly string[], indent = ''): string {
  const line = `[${texts.map(quoted).join(', ')}]`;
  if (line.length + indent.length <= LONGEST - 20) return line;
  return `[\n${texts.map((text) => `${indent}  ${quoted(text)},\n`).join('')}${indent}]`;
}

/** A comment of TSDoc over these paragraphs, line by line; none where they are empty. */
export function docComment(paragraphs: readonly string[], indent: string): string[] {
  const lines = paragraphs.flatMap((paragraph) =>
    paragraph
      .split(/[\n\r\v\f\u0085\u2028\u2029]+/)
      // A mark of the end, or of a tag such as @deprecated, would mean something.
      .map((line) => line.replaceAll(HIDDEN, ' ').replaceAll('*/', '*\\/').replaceAll('@', '\\@').trim())
      .filter((line) => line !== ''),
  );
  const [only = '', ...others] = lines;
  if (only === '') return [];
  if (others.length === 0) return [`${indent}/** ${endOf(only)} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`];
}

/** A star behind a slash would begin another comment's end. */
function endOf(line: string): string {
  return line.endsWith('*') ? `${line} ` : line;
}

/** Code of members, in order; members that are undefined are left out. */
export type Members = Readonly<Record<string, string | undefined>>;

/**
 * A call whose last argument is an object: on a line of its own, or a line for each member where that is too long.
 *
 * @param proposals members that are only proposed: each is a comment
 */
export function callWith(
  opening: string,
  members: Members,
  indent = '',
  proposals: readonly string[] = [],
): string[] {
  const parts = Object.entries(members).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${value}`],
  );
  const comments = proposals
    .map((each) => each.replaceAll(HIDDEN, ' '))
    .map((each) => `${indent}  // ${each}${each.startsWith('@') ? '' : ','}`);
  const inner = parts.length === 0 ? '' : `{ ${parts.join(', ')} }`;
  const line = `${indent}${opening}${inner})`;
  if (line.length <= LONGEST && !line.includes('\n') && comments.length === 0) return [line];
  const lines = parts.map((part) => `${indent}  ${part},`);
  return [`${indent}${opening}{`, ...lines, ...comments, `${indent}})`];
}
