/** Texts as literals of SQL, for statements of Sequelize's and for texts of models and options. */

/**
 * A quoted text without `$`. In a statement with parameters Sequelize takes each `$` for the beginning of one, in quoted texts
 * too, and `$$` for `$`. So a condition would find another row. A NUL would end the message of the statement; escaped it is refused
 * like a bound one (22021).
 */
export function quoteText(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "''")
    .replaceAll('$', '\\044')
    .replaceAll('\0', '\\000');
  return escaped.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}
