/** Detects messages that repeat a value: a sent value may be a secret, and never comes back. */

/** Shorter values are part of many ordinary words, so they are searched as whole words. */
const SHORTEST_SUBSTRING = 4;
/** Patterns that `String.replace` expands. class-validator puts a value into a message by it. */
const EXPANDED = /\$(?:[$&`']|\d{1,2})?/;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** True where the message holds the value, or a text, number or key inside it. Iterative: depth costs no stack. */
export function quotesValue(message: string, value: unknown): boolean {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part === 'object' && part !== null) for (const inner of partsOf(part)) pending.push(inner);
    else if (isQuoted(message, part)) return true;
  }
  return false;
}

function partsOf(value: object): readonly unknown[] {
  if (value instanceof Date) return [String(value), JSON.stringify(value).replaceAll('"', '')];
  if (value instanceof Uint8Array)
    return [Buffer.from(value).toString(), Buffer.from(value).toString('base64')];
  return Array.isArray(value) ? value : Object.entries(value).flat();
}

function isQuoted(message: string, part: unknown): boolean {
  if (typeof part !== 'string' && typeof part !== 'number' && typeof part !== 'bigint') return false;
  return String(part)
    .split(EXPANDED)
    .some((text) => (text.length < SHORTEST_SUBSTRING ? hasWord(message, text) : message.includes(text)));
}

function hasWord(message: string, word: string): boolean {
  if (word === '') return false;
  for (let start = message.indexOf(word); start >= 0; start = message.indexOf(word, start + 1)) {
    const before = message.charAt(start - 1);
    const after = message.charAt(start + word.length);
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return true;
  }
  return false;
}
