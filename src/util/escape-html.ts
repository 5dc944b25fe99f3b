/** Texts in the source of a page. */

/** The text as it is written in an element, or in an attribute between quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
