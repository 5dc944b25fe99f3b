/** Values of hstore: the objects of answers and bodies, and the text that PostgreSQL writes. */

const PAIR = /"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|NULL)(?:, |$)/gsy;

/** The text of the database as an object of texts and nulls; undefined for another text. */
export function hstoreObject(text: string): Readonly<Record<string, string | null>> | undefined {
  const pairs: [string, string | null][] = [];
  let end = 0;
  for (const [whole, key = '', value] of text.matchAll(PAIR)) {
    end += whole.length;
    pairs.push([unescaped(key), value === undefined ? null : unescaped(value)]);
  }
  return end === text.length ? Object.fromEntries(pairs) : undefined;
}

/** An object as PostgreSQL writes it: pairs in the order of the lengths and bytes of their keys. Undefined for any other value. */
export function hstoreText(value: object): string | undefined {
  const pairs = Object.entries(value as Readonly<Record<string, unknown>>);
  if (!pairs.every(([, each]) => each === null || typeof each === 'string')) return undefined;
  const sorted = pairs
    .map(([key, each]) => [Buffer.from(key), key, each as string | null] as const)
    .sort(([one], [other]) => one.length - other.length || Buffer.compare(one, other));
  return sorted.map(([, key, each]) => `${quoted(key)}=>${each === null ? 'NULL' : quoted(each)}`).join(', ');
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}

function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}
