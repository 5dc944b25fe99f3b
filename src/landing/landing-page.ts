/** The landing page for people: plain HTML without a script. */
import { PAGE_COLOURS } from '../openapi/page-style.js';
import { escapeHtml } from '../util/escape-html.js';
import type { Landing, LandingLinks, LandingOperation, LandingResource } from './landing.js';

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

/** The only style sheet of the page, inside it. */
export const LANDING_STYLE = `${PAGE_COLOURS}
* { box-sizing: border-box; margin: 0; padding: 0; }
html { background: var(--ground); color: var(--text); }
body { max-width: 60rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 3.5rem) clamp(1rem, 4vw, 2rem); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, p a { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.75rem, 5vw, 2.25rem); line-height: 1.2; overflow-wrap: anywhere; }
h1 small { margin-left: 0.25rem; font-size: 0.875rem; font-weight: 400; color: var(--muted); }
h2 { font-size: 1.25rem; overflow-wrap: anywhere; }
p { max-width: 46rem; color: var(--muted); }
header p { margin-top: 0.5rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 1.25rem; }
nav a { padding: 0.375rem 0.875rem; border: 1px solid var(--line); border-radius: 999px; background: var(--surface); font-size: 0.9375rem; }
section { margin-top: 2.25rem; }
section p { font-size: 0.9375rem; }
ul { margin-top: 0.75rem; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--surface); list-style: none; }
li { display: grid; grid-template-columns: 4.5rem minmax(0, 3fr) minmax(0, 2fr); gap: 0.125rem 0.75rem; align-items: baseline; padding: 0.5rem 1rem; }
li + li { border-top: 1px solid var(--line); }
li > :last-child { color: var(--muted); font-size: 0.9375rem; text-decoration-color: var(--line); }
li > a { text-decoration: underline; text-underline-offset: 0.2em; }
li > a:hover { text-decoration-color: currentColor; }
b { font: 600 0.75rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--change); } .delete { color: var(--delete); }
@media (max-width: 40rem) {
  li { grid-template-columns: 4rem minmax(0, 1fr); }
  li > :last-child { grid-column: 2; }
}
`;
