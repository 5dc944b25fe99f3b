/** The site of the guide: its pages are staged in `pages` by scripts/docs.mjs. */
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import api from '../pages/api/typedoc-sidebar.json' with { type: 'json' };

const PAGES = new URL('../pages/docs/', import.meta.url);
const named = new Set<string>();

function page(text: string, name: string) {
  named.add(name);
  return { text, link: `/docs/${name}` };
}

/** Pages that no part below names, by the beginnings of their titles. */
function others() {
  const names = readdirSync(PAGES).map((file) => file.replace(/\.md$/, ''));
  return names
    .filter((name, index) => !name.includes('.') && !named.has(name) && names.indexOf(name) === index)
    .map((name) => page(/^# ([^:\n]+)/.exec(readFileSync(new URL(`${name}.md`, PAGES), 'utf8'))?.[1] ?? name, name));
}

/** Links between pages are those of GitHub: `@nestjsx/crud` is at `#nestjsxcrud`. */
function githubAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

export default defineConfig({
  title: 'crud-controllers',
  description: 'One decorator turns a Sequelize model into a complete and safe REST resource.',
  srcDir: 'pages',
  outDir: 'dist',
  lastUpdated: false,
  // Addresses of examples, which no page has.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // The themes of VitePress have words of too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    anchor: { slugify: githubAnchor },
    // The highlighter has no such language; its comments are those of a shell.
    languageAlias: { promql: 'sh' },
    /** Text in braces in code, such as the properties of JSX, is no expression of Vue's. */
    config({ renderer }) {
      const inline = renderer.rules.code_inline;
      renderer.rules.code_inline = (...args) => inline?.(...args).replace('<code', '<code v-pre') ?? '';
    },
  },
  // The page of changes is long.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guide', link: '/docs/start', activeMatch: '^/docs/' },
      { text: 'How do I …', link: '/docs/recipes' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: {
      '/api/': [{ text: 'API', link: '/api/', items: api }],
      '/': [
        {
          text: 'First',
          items: [
            { text: 'What it is', link: '/' },
            page('Start', 'start'),
            page('Setups', 'setups'),
            page('Coming from …', 'coming-from'),
          ],
        },
        {
          text: 'Resources',
          items: [
            page('Lists', 'lists'),
            page('Relations', 'relations'),
            page('Access', 'access'),
            page('Writes', 'writes'),
            page('Extending', 'extending'),
            page('Transactions', 'transactions'),
            page('Admin', 'admin'),
            page('How do I …', 'recipes'),
          ],
        },
        {
          text: 'Reference',
          items: [
            page('Options', 'options'),
            page('HTTP', 'http'),
            page('Errors', 'errors'),
            page('API documentation', 'openapi'),
            { text: 'API of the library', link: '/api/' },
          ],
        },
        {
          text: 'In production',
          items: [
            page('Connections', 'connections'),
            page('An existing database', 'existing-databases'),
            page('Database', 'database'),
            page('Serving', 'serving'),
            page('Operations', 'operations'),
            page('Performance', 'performance'),
            { text: 'Security', link: '/SECURITY' },
            ...others(),
          ],
        },
      ],
    },
  },
});
