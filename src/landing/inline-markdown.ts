/** Descriptions in Markdown -> HTML, as far as descriptions of an API use it: paragraphs, code and links. All else is text. */
import { escapeHtml } from '../util/escape-html.js';

/** `code`, or a [link](https://example.org) to another site. */
const MARKED = /`(?<code>[^`]+)`|\[(?<text>[^[\]]+)\]\((?<address>https?:\/\/[^\s()"<>]+)\)/g;

/** The paragraphs of a text. */
export function inlineMarkdown(markdown: string): string {
  const paragraphs = markdown.trim().split(/\n\s*\n/);
  return paragraphs.map((paragraph) => `<p>${inline(paragraph)}</p>`).join('\n');
}

function inline(paragraph: string): string {
  let html = '';
  let end = 0;
  for (const { 0: whole, index, groups = {} } of paragraph.matchAll(MARKED)) {
    const { code, text = '', address = '' } = groups;
    html += escapeHtml(paragraph.slice(end, index));
    html += code
      ? `<code>${escapeHtml(code)}</code>`
      : `<a href="${escapeHtml(address)}">${escapeHtml(text)}</a>`;
    end = index + whole.length;
  }
  return html + escapeHtml(paragraph.slice(end));
}
