/** The landing page for people: plain HTML without a script. */
import type { SecuritySchemeObject } from '../openapi/openapi-object.js';
import { MANY_RESOURCES, PAGE_COLOURS } from '../openapi/page-style.js';
import { escapeHtml } from '../util/escape-html.js';
import { counted } from '../util/with-article.js';
import type { Landing, LandingLinks, LandingOperation, LandingResource } from './landing.js';

const LINK_TEXTS = [
  ['docs', 'Documentation'],
  ['openapi', 'OpenAPI document'],
  ['ready', 'Readiness'],
  ['live', 'Liveness'],
] as const satisfies readonly (readonly [keyof LandingLinks, string])[];

interface LandingPlace {
  /** The relative address of the application's root, without a slash at its end: `.`, `..` */
  readonly root: string;
  /** The same for programs, such as `https://example.org/shop`. */
  readonly address: string;
  /** Text of a search; the resources are those that have it. */
  readonly wanted: string;
  /** Number of all resources. */
  readonly total: number;
}

/** The page. With many resources each is folded, and a field finds some of them. */
export function landingPage(landing: Landing, place: LandingPlace): string {
  const { title, version, description, links, resources, securitySchemes = {} } = landing;
  const { root, address, total } = place;
  const linked = LINK_TEXTS.flatMap(([name, text]) =>
    links[name] ? [link(`${root}${links[name]}`, text)] : [],
  );
  const operations = resources.flatMap((each) => each.operations).length;
  const isFolded = resources.length > MANY_RESOURCES;
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
<p>${counted(resources.length, 'resource')} with ${counted(operations, 'operation')}${address ? ` at <code>${escapeHtml(address)}</code>` : ''}.</p>
${Object.entries(securitySchemes).map(signIn).join('\n')}
${linked.length > 0 ? `<nav>${linked.join('\n')}</nav>` : ''}
</header>
${total > MANY_RESOURCES ? searchField(place) : ''}
${resources.length > 1 && !isFolded ? contents(resources) : ''}
<main>
${resources.map((resource) => section(resource, landing, place, isFolded)).join('\n')}
</main>
</body>
</html>
`;
}

function searchField({ wanted }: LandingPlace): string {
  return `<form role="search">
<input type="search" name="find" value="${escapeHtml(wanted)}" placeholder="Find a resource" aria-label="Find a resource">
<button>Find</button>
</form>`;
}

function contents(resources: readonly LandingResource[]): string {
  const links = resources.map(({ name }) => link(`#${encodeURIComponent(name)}`, name));
  return `<nav aria-label="Contents">${links.join('\n')}</nav>`;
}

/** A sentence about a security scheme. Where people sign in at another site, it has the address. */
function signIn([name, scheme]: [string, SecuritySchemeObject]): string {
  const header = credentials(scheme);
  const places =
    scheme.type === 'oauth2'
      ? Object.values(scheme.flows).flatMap((flow) => Object.entries(flow).flatMap(addressOfFlow))
      : scheme.type === 'openIdConnect'
        ? [scheme.openIdConnectUrl]
        : [];
  const how = header
    ? `send <code>${escapeHtml(header)}</code>`
    : `at ${[...new Set(places)].map(site).join(', ')}`;
  return `<p>Sign in (${escapeHtml(name)}): ${how}.</p>`;
}

function addressOfFlow([name, address]: [string, unknown]): readonly string[] {
  return name === 'authorizationUrl' || name === 'tokenUrl' ? [String(address)] : [];
}

function site(address: string): string {
  return /^https?:/.test(address) ? link(address, address) : escapeHtml(address);
}

/** Credentials that a client sends with each request; undefined for sign-ins at another site. */
function credentials(scheme: SecuritySchemeObject): string | undefined {
  if (scheme.type === 'http')
    return `Authorization: ${scheme.scheme.replace(/^./, (first) => first.toUpperCase())} <token>`;
  if (scheme.type !== 'apiKey') return undefined;
  if (scheme.in === 'header') return `${scheme.name}: <key>`;
  return scheme.in === 'cookie' ? `Cookie: ${scheme.name}=<key>` : `?${scheme.name}=<key>`;
}

function section(
  { name, description, operations }: LandingResource,
  landing: Landing,
  { root, address }: LandingPlace,
  isFolded: boolean,
): string {
  const docs = landing.links.docs && `${root}${landing.links.docs}`;
  const id = `id="${encodeURIComponent(name)}"`;
  const heading = `<h2>${escapeHtml(name)}</h2>`;
  const content = `${inlineMarkdown(description)}
${example(operations, landing, root, address)}
<ul>
${operations.map((operation) => row(operation, name, root, docs)).join('\n')}
</ul>`;
  return isFolded
    ? `<details ${id}><summary>${heading}<code>${escapeHtml(operations[0]?.path ?? '')}</code></summary>
${content}
</details>`
    : `<section ${id}>
${heading}
${content}
</section>`;
}

/** Names of the first list, a link that works, and the same for a terminal, with a filter. */
function example(
  operations: readonly LandingOperation[],
  { securitySchemes = {} }: Landing,
  root: string,
  address: string,
): string {
  const open = operations.filter(isOpen);
  const shown = open.find(({ examples }) => examples) ?? open[0];
  if (!shown) return '';
  const { path, filterable = [], sortable = [], examples = {} } = shown;
  const { sort, q } = examples;
  const [header] = Object.values(securitySchemes).map(credentials);
  const command = [
    `curl${sort || q ? ' -G' : ''} ${quoted(`${address}${path}`)}`,
    ...(header && !header.startsWith('?') ? [`-H ${quoted(header)}`] : []),
    ...(sort ? [`-d ${quoted(`sort=${sort}`)}`] : []),
    ...(q ? [`--data-urlencode ${quoted(`q=${q}`)}`] : []),
  ].join(' ');
  const query = sort ? `?sort=${encodeURIComponent(sort)}` : '';
  const lines = [
    ['Filter by', names(filterable)],
    ['Sort by', names(sortable)],
    ['Open', `<a href="${escapeHtml(`${root}${path}${query}`)}">${breakable(`${path}${query}`)}</a>`],
    ['Run', `<code>${escapeHtml(command)}</code>`],
  ].filter(([, content]) => content);
  return `<dl>${lines.map(([term, content]) => `<dt>${term}</dt><dd>${content}</dd>`).join('\n')}</dl>`;
}

function names(all: readonly string[]): string {
  return all.map((name) => `<code>${escapeHtml(name)}</code>`).join(' ');
}

/** A word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** True where a browser can open the path as it is. */
function isOpen({ method, path }: LandingOperation): boolean {
  return method === 'GET' && !path.includes('{');
}

/** Long ones break between their segments. */
function breakable(path: string): string {
  return `<code>${escapeHtml(path).replaceAll(/(?<=.)\//g, '<wbr>/')}</code>`;
}

/** Row of an operation. A path that a browser can open is a link, and the summary leads to the documentation. */
function row(operation: LandingOperation, tag: string, root: string, docs: string | undefined): string {
  const { method, path, summary, operationId } = operation;
  const code = breakable(path);
  const place = `${docs}#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`;
  return `<li><b class="${escapeHtml(method.toLowerCase())}">${escapeHtml(method)}</b>
${isOpen(operation) ? `<a href="${escapeHtml(`${root}${path}`)}">${code}</a>` : code}
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
nav[aria-label] { column-gap: 1rem; }
nav:not([aria-label]) a { padding: 0.375rem 0.875rem; border: 1px solid var(--line); border-radius: 999px; background: var(--surface); font-size: 0.9375rem; }
section { margin-top: 2.25rem; }
main p, dl { font-size: 0.9375rem; }
dl { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: 0.25rem 0.75rem; margin-top: 0.5rem; padding: 0 1rem; align-items: baseline; }
dt { color: var(--muted); }
dd a { text-decoration: underline; text-underline-offset: 0.2em; }
dd code { margin-right: 0.375rem; }
details { margin-top: 0.25rem; padding: 0.25rem 0; border-bottom: 1px solid var(--line); }
details[open] { padding-bottom: 1.5rem; }
summary { cursor: pointer; }
summary h2 { display: inline; margin-right: 0.75rem; font-size: 1rem; }
form { display: flex; gap: 0.5rem; margin: 1.25rem 0; }
input, button { padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--surface); color: var(--text); font: inherit; }
input { flex: 1; min-width: 0; max-width: 30rem; }
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
