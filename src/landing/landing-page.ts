/** The landing page for people: plain HTML without a script. */
import { escapeHtml } from '../util/escape-html.js';
import type { Landing, LandingLinks, LandingOperation, LandingResource } from './landing.js';
import { LANDING_STYLE } from './landing-style.js';

const LINK_TEXTS = [
  ['docs', 'Documentation'],
  ['openapi', 'OpenAPI document'],
  ['ready', 'Readiness'],
  ['live', 'Liveness'],
] as const satisfies readonly (readonly [keyof LandingLinks, string])[];

/** @param root the relative address of the application's root, without a slash at its end: `.`, `..` */
export function landingPage(
  { title, version, description, links, resources }: Landing,
  root: string,
): string {
  const linked = LINK_TEXTS.flatMap(([name, text]) =>
    links[name] ? [link(`${root}${links[name]}`, text)] : [],
  );
  const docs = links.docs && `${root}${links.docs}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${LANDING_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
${inlineMarkdown(description)}
${linked.length > 0 ? `<nav>${linked.join('\n')}</nav>` : ''}
</header>
<main>
${resources.map((resource) => section(resource, root, docs)).join('\n')}
</main>
</body>
</html>
`;
}

function section(
  { name, description, operations }: LandingResource,
  root: string,
  docs: string | undefined,
): string {
  return `<section>
<h2>${escapeHtml(name)}</h2>
${inlineMarkdown(description)}
<ul>
${operations.map((operation) => row(operation, name, root, docs)).join('\n')}
</ul>
</section>`;
}

/** Row of an operation. A path that a browser can open is a link, and the summary leads to the documentation. */
function row(operation: LandingOperation, tag: string, root: string, docs: string | undefined): string {
  const { method, path, summary, operationId } = operation;
  // Long ones break between their segments.
  const code = `<code>${escapeHtml(path).replaceAll(/(?<=.)\//g, '<wbr>/')}</code>`;
  const isOpen = method === 'GET' && !path.includes('{');
  const place = `${docs}#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`;
  return `<li><b class="${escapeHtml(method.toLowerCase())}">${escapeHtml(method)}</b>
${isOpen ? `<a href="${escapeHtml(`${root}${path}`)}">${code}</a>` : code}
${docs ? link(place, summary) : `<span>${escapeHtml(summary)}</span>`}</li>`;
}

function link(address: string, text: string): string {
  return `<a href="${escapeHtml(address)}">${escapeHtml(text)}</a>`;
}

/** `code`, or a [link](https://example.org) to another site. */
const MARKED = /`(?<code>[^`]+)`|\[(?<text>[^[\]]+)\]\((?<address>https?:\/\/[^\s()"<>]+)\)/g;

/** The paragraphs of a description in Markdown, as far as descriptions of an API use it: code and links. All else is text. */
function inlineMarkdown(markdown: string): string {
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
