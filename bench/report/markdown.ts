/** The small part of Markdown that reports need. */

/** A table; all columns but the first are numbers. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Names and values. */
export function definitions(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n');
}
