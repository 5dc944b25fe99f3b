/** Texts as literals of SQL: texts of models and options, never of a request. */

/**
 * A quoted text without `$`: in a statement with parameters Sequelize takes each `$` for the beginning of one, in quoted texts
 * too, and `$$` for `$`, so that a condition would name another row.
 */
export function quoteText(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('$', '\\044');
  return escaped.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}
