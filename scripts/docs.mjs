/** `npm run docs`: builds the site of the guide and shows it; with `--build` it only builds. The generator is a package of its own. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { installPackages } from './set-up.mjs';
import { root, runScript, step } from './step.mjs';

const SITE = path.join(root, 'scripts/site');
/** The pages that the generator reads. They are copies, because links have to stay inside of one folder. */
const PAGES = path.join(SITE, 'pages');
const generator = (name) => path.join(SITE, 'node_modules', name);

export async function docs(args) {
  await installPackages('the generator of the site', SITE);
  await step('Collect the pages', collect);
  await step('Describe the API', () =>
    runScript(generator('typedoc/bin/typedoc'), ['--options', path.join(SITE, 'typedoc.json')]),
  );
  await step('Build the site', () => runScript(generator('vitepress/bin/vitepress.js'), ['build', SITE]));
  if (!args.includes('--build')) await runScript(generator('vitepress/bin/vitepress.js'), ['preview', SITE]);
}

/** Copies the README and every page and picture that links lead to. */
function collect() {
  rmSync(PAGES, { recursive: true, force: true });
  const pages = ['README.md'];
  // Grows meanwhile.
  for (const page of pages) {
    const text = readFileSync(path.join(root, page), 'utf8');
    write(
      page === 'README.md' ? 'index.md' : page,
      outsideOfCode(text, (prose) =>
        prose.replace(/(!?)\[([^\]]*)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)/g, (link, picture, label, to) => {
          const target = path.posix.join(path.posix.dirname(page), to);
          if (picture) cpSync(path.join(root, target), path.join(PAGES, target));
          else if (!target.endsWith('.md') || !existsSync(path.join(root, target))) return label;
          else if (!pages.includes(target)) pages.push(target);
          return target === 'README.md' ? link.replace('README.md', 'index.md') : link;
        }),
      ),
    );
  }
}

/** A text whose code blocks stay as they are. */
function outsideOfCode(text, change) {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

function write(name, text) {
  const file = path.join(PAGES, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
