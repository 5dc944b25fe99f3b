/** The page of the document: Swagger UI, which loads nothing from anywhere else, in the colours of the landing page. */
import { escapeHtml } from '../util/escape-html.js';
import { PAGE_COLOURS } from './page-style.js';

/** The files of Swagger UI that the page needs. */
export const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

/**
 * Everything comes from this server, and requests go to it only. Swagger UI draws its icons from `data:` addresses.
 * https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface DocsPage {
  readonly title: string;
  /** Relative address of the files of the page: empty, or with a slash at its end. */
  readonly folder: string;
  /** Relative address of the landing page. */
  readonly home: string | undefined;
  /** True where a resource is chosen first. The page itself names none, because a guard may protect the document. */
  readonly isByTag: boolean;
}

/** The page. Addresses are relative to it, so that it works behind a proxy that cuts off a prefix. */
export function docsPage({ title, folder: place, home, isByTag }: DocsPage): string {
  const folder = escapeHtml(place);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/png" href="${folder}favicon-32x32.png">
<link rel="stylesheet" href="${folder}swagger-ui.css">
<link rel="stylesheet" href="${folder}page.css">
</head>
<body>
${home ? `<nav id="way-back"><a href="${escapeHtml(home)}">← ${escapeHtml(title)}</a></nav>` : ''}
<p id="refusal" role="alert" hidden></p>
${isByTag ? `<h1 id="title">${escapeHtml(title)}</h1>\n${CHOICE}` : ''}
<div id="swagger-ui"></div>
<script src="${folder}swagger-ui-bundle.js"></script>
<script src="${folder}start.js"></script>
</body>
</html>
`;
}

const CHOICE = `<details id="choice" open>
<summary>Resources</summary>
<input type="search" placeholder="Find a resource" aria-label="Find a resource" autocomplete="off" autofocus>
<ul></ul>
</details>`;

/** A script of its own, because the policy refuses those inside the page. */
const PAGE_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

/** Address of the document, or of the part with a tag. */
function addressOf(tag) {
  const address = new URL('openapi.json', location.href);
  if (tag !== undefined) address.searchParams.set('tag', tag);
  return address.href;
}

const refusal = document.getElementById('refusal');

/** Shows where to sign in, if a guard has answered in the place of the document. */
function noteGuard({ status, url }) {
  const isElsewhere = new URL(url).pathname !== new URL(addressOf()).pathname;
  refusal.hidden = !isElsewhere && status !== 401 && status !== 403;
  refusal.textContent = 'The document is for clients that have signed in (status ' + status + '). ';
  const link = refusal.appendChild(document.createElement('a'));
  link.href = isElsewhere ? url : location.href;
  link.textContent = isElsewhere ? 'Sign in' : 'Load this page again after signing in';
}

/** The table of a filter is long, and is wanted now and then. */
const foldTables = () => ({
  wrapComponents: {
    Markdown: (Markdown, { React }) => (props) => {
      const start = props.source?.indexOf?.('\\n| field |') ?? -1;
      if (start < 0) return React.createElement(Markdown, props);
      const part = (source) => React.createElement(Markdown, { ...props, source });
      const summary = React.createElement('summary', null, 'Fields and operators');
      const table = React.createElement('details', null, summary, part(props.source.slice(start)));
      return React.createElement('div', null, part(props.source.slice(0, start)), table);
    },
  },
});

let ui;
function show(tag) {
  const address = addressOf(tag);
  if (ui) {
    ui.specActions.updateUrl(address);
    ui.specActions.download(address);
    ui.layoutActions.parseDeepLinkHash(decoded(location.hash));
    return;
  }
  ui = SwaggerUIBundle({
    url: address,
    dom_id: '#swagger-ui',
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    plugins: [foldTables],
    requestInterceptor(request) {
      // Other requests are those that people send from the page.
      if (request.loadSpec) request.responseInterceptor = (answer) => (noteGuard(answer), answer);
      return request;
    },
  });
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Lists the tags, and shows the one that the address names: #/City, or #/City/listCities. */
async function choose(choice) {
  const answer = await fetch(addressOf(''));
  noteGuard(answer);
  if (!refusal.hidden) return;
  const { tags } = await answer.json();
  const [summary, input, list] = choice.children;
  for (const { name, description } of tags) {
    const link = document.createElement('a');
    link.href = '#/' + encodeURIComponent(name);
    link.textContent = name;
    const text = document.createElement('small');
    text.textContent = description.replace(/\\x60/g, '');
    list.appendChild(document.createElement('li')).append(link, text);
  }
  const find = () => {
    const wanted = input.value.trim().toLowerCase();
    for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    const found = list.querySelectorAll('li:not([hidden])').length;
    summary.textContent = found + ' of ' + tags.length + ' resources';
  };
  input.addEventListener('input', find);
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') list.querySelector('li:not([hidden]) a')?.click();
  });
  find();
  let shown;
  const follow = () => {
    const path = decoded(location.hash).slice(2) + '/';
    const [tag] = tags.filter(({ name }) => path.startsWith(name + '/')).sort((a, b) => b.name.length - a.name.length);
    if (!tag) return;
    choice.open = false;
    if (tag.name === shown) return;
    shown = tag.name;
    summary.textContent = shown + ', one of ' + tags.length + ' resources';
    show(shown);
  };
  addEventListener('hashchange', follow);
  follow();
}

const choice = document.getElementById('choice');
if (choice) choose(choice);
else show();
`;

/** The rules of Swagger UI have up to four classes; an id is stronger than all of them. */
const PAGE_STYLE = `${PAGE_COLOURS}
html, html.dark-mode { background: var(--ground); }
body { margin: 0; color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
a, #swagger-ui .info a, #swagger-ui .markdown a { color: var(--link); }
#way-back, #title, #refusal, #choice { box-sizing: border-box; max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; }
#refusal { color: var(--delete); font-weight: 600; }
#title:has(+ #choice:not([open])) { display: none; }
#choice summary { cursor: pointer; font-weight: 600; }
#choice input {
  width: 100%; max-width: 30rem; margin: 0.75rem 0; padding: 0.5rem 0.75rem; border: 1px solid var(--line);
  border-radius: 0.375rem; background: var(--surface); color: var(--text); font: inherit;
}
#choice ul { columns: 22rem; margin: 0; padding: 0; list-style: none; }
#choice li { break-inside: avoid; padding: 0.25rem 0; overflow-wrap: anywhere; }
#choice li[hidden] { display: none; }
#choice small { margin-left: 0.5rem; color: var(--muted); }
#swagger-ui .swagger-ui { background: none; }
#swagger-ui .info { margin: 1.5rem 0; }
#swagger-ui .schemes-server-container, #swagger-ui .response-col_links { display: none; }
#swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
#swagger-ui details { margin-bottom: 0.75rem; overflow-x: auto; }
#swagger-ui details > summary { width: fit-content; cursor: pointer; color: var(--link); }
${['get', 'post', 'put', 'patch', 'delete']
  .map((method) => `#swagger-ui .opblock-${method} { --method: var(--${colourOf(method)}); }`)
  .join('\n')}
#swagger-ui .opblock:not(.opblock-deprecated) {
  border-color: color-mix(in srgb, var(--method) 40%, var(--surface));
  background: color-mix(in srgb, var(--method) 5%, var(--surface));
}
#swagger-ui .opblock:not(.opblock-deprecated) .opblock-summary { border-color: color-mix(in srgb, var(--method) 40%, var(--surface)); }
#swagger-ui .opblock .opblock-summary-method { background: var(--method); color: var(--surface); text-shadow: none; }
#swagger-ui .btn.execute { border-color: var(--link); background: var(--link); color: var(--surface); }
#swagger-ui .opblock .tab-header .tab-item .opblock-title span::after { background: var(--method); }
`;

function colourOf(method: string): string {
  return method === 'put' || method === 'patch' ? 'change' : method;
}

/** The files that are written here, by name. */
export const PAGE_FILES = { 'start.js': PAGE_SCRIPT, 'page.css': PAGE_STYLE } as const;
