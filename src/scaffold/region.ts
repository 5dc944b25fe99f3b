/** Regions of a file between two marks: the generated text, and a digest by which an edit of it is found. */
import { createHash } from 'node:crypto';

/** Kinds of regions, by the word of their marks. */
export type RegionName = 'columns' | 'enums' | 'models';

/** A region of a file, and where it is there, with its marks. */
export interface Region {
  readonly start: number;
  readonly end: number;
  /** Blanks before the mark. */
  readonly indent: string;
  readonly content: string;
  /** True where the content is other than the generated one, beyond the work of a formatter. */
  readonly isEdited: boolean;
}

/** The text of a region with its marks. */
export function markRegion(name: RegionName, content: string, indent: string): string {
  return `${indent}// <${name} digest=${digestOf(name, content)}>\n${content}\n${indent}// </${name}>`;
}

/** The region of a file; null where there is none. @throws TypeError where a mark is missing, or comes twice */
export function findRegion(name: RegionName, text: string): Region | null {
  const opening = new RegExp(`(?<=^|\\n)([ \\t]*)// <${name}(?: digest=(\\w*))?>[ \\t]*(?=\\r?\\n)`, 'g');
  const closing = new RegExp(`(?<=\\n)[ \\t]*// </${name}>[ \\t]*(?=\\r?\\n|$)`, 'g');
  const openings = [...text.matchAll(opening)];
  const closings = [...text.matchAll(closing)];
  if (openings.length === 0 && closings.length === 0) return null;
  const [first, last] = [openings[0], closings[0]];
  if (openings.length > 1 || closings.length > 1 || !first || !last || last.index < first.index)
    throw new TypeError(
      `has not one pair of the marks // <${name} digest=…> and // </${name}>; leave one of each around the lines of the command, as after a merge, and run it again.`,
    );
  const content = text
    .slice(first.index + first[0].length, last.index)
    .replace(/^\r?\n/, '')
    .replace(/\r?\n$/, '');
  return {
    start: first.index,
    end: last.index + last[0].length,
    indent: first[1] ?? '',
    content,
    isEdited: first[2] !== digestOf(name, content),
  };
}

/** True where two contents differ by the work of formatters at most. */
export function isSame(name: RegionName, one: string, other: string): boolean {
  return digestOf(name, one) === digestOf(name, other);
}

const TOKEN = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|\/\*[\s\S]*?\*\/|\/\/[^\n]*|[\w$]+|\s+|[\s\S]/g;

/** The digest of the tokens: without blanks, trailing commas and semicolons, and with one kind of quotes. */
function digestOf(name: RegionName, content: string): string {
  const tokens = (content.match(TOKEN) ?? []).flatMap((token) => {
    if (/^\s/.test(token) || token === ';') return [];
    if (/^\/[/*]/.test(token)) return [token.replaceAll(/\s+\*?\s*/g, ' ')];
    return /^['"]/.test(token) ? [`'${token.slice(1, -1).replaceAll(/\\(['"])/g, '$1')}'`] : [token];
  });
  const kept = tokens.filter((token, at) => token !== ',' || !/^[)\]}]$/.test(tokens[at + 1] ?? ''));
  // Formatters sort imports and exports.
  const ordered = name === 'models' ? kept.filter((token) => token !== ',').sort() : kept;
  return createHash('sha256').update(ordered.join('\n')).digest('hex').slice(0, 16);
}
