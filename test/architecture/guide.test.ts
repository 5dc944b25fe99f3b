/** The README and the guide as texts: their links lead somewhere, and the README stays short. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { codeBlocks, guidePages } from '../support/readme-examples.js';

const LONGEST_README = 150;
const PAGES = [
  ...guidePages(),
  ...[
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CODE_OF_CONDUCT.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'bench/README.md',
    'test/README.md',
  ],
  ...readdirSync(join(PACKAGE_ROOT, 'sample'))
    .map((name) => `sample/${name}/README.md`)
    .filter((page) => existsSync(join(PACKAGE_ROOT, page))),
];

function read(page: string): string {
  return readFileSync(join(PACKAGE_ROOT, page), 'utf8');
}

/** The anchors of a page, as GitHub and the site of the guide make them from its headings. */
function anchorsOf(text: string): readonly string[] {
  const headings = withoutCode(text).matchAll(/^#{1,6} (.+)$/gm);
  const seen = new Map<string, number>();
  return [...headings].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** The links of a page that lead nowhere. */
function brokenLinks(page: string, text: string): readonly string[] {
  const links = withoutCode(text).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
  return [...links].flatMap(([link, path = '', anchor]) => {
    const target = path === '' ? page : relative(PACKAGE_ROOT, join(PACKAGE_ROOT, dirname(page), path));
    const file = join(PACKAGE_ROOT, target);
    if (!existsSync(file)) return [`${page}: ${link} is not there.`];
    if (anchor === undefined || statSync(file).isDirectory()) return [];
    const anchors = anchorsOf(path === '' ? text : read(target));
    return anchors.includes(anchor) ? [] : [`${page}: ${link}: the page has no such heading.`];
  });
}

/** Packages that the programs of a page import, and that no line of it, or of the first page, installs. The page's own package is left out. */
function missingPackages(page: string): readonly string[] {
  const installs = `${read('docs/start.md')}${read(page)}`.match(/\bnpm install [^\n`]*/g)?.join(' ') ?? '';
  const own = [...read(page).matchAll(/^ {2}"name": "([^"]+)"/gm)].map(([, name]) => name);
  const installed = new Set([...own, ...installs.split(' ').map((name) => name.replace(/(?!^)@.*$/, ''))]);
  const programs = codeBlocks(page).filter(({ language }) => language === 'ts');
  const imports = programs.flatMap(({ code }) => [
    ...code.matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)[\w/-]*'/g),
  ]);
  const needed = imports.flatMap(([, name = '']) => {
    const types = `@types/${name}`;
    return existsSync(join(PACKAGE_ROOT, 'node_modules', types)) ? [name, types] : [name];
  });
  return [...new Set(needed)].filter((name) => !installed.has(name));
}

describe('the guide', () => {
  for (const page of PAGES) {
    it(`has links that lead somewhere in ${page}`, () => {
      expect(brokenLinks(page, read(page))).to.deep.equal([]);
    });
  }

  it('would be found wrong', () => {
    const text =
      '# A `b`: c-d, e\n\n[a](#a-b-c-d-e) [b](#f) [c](nowhere.md) [d](LICENSE) [e](https://nowhere)\n';
    expect(brokenLinks('README.md', text)).to.deep.equal([
      'README.md: ](#f): the page has no such heading.',
      'README.md: ](nowhere.md) is not there.',
    ]);
  });

  it('is named page by page in the README', () => {
    const readme = read('README.md');
    const missing = guidePages().filter((page) => page !== 'README.md' && !readme.includes(`](${page})`));
    expect(missing, 'Add them to the table of README.md.').to.deep.equal([]);
  });

  it('installs the same packages on its first page as in the README', () => {
    const install = /^npm install .*$/gm;
    expect(read('docs/start.md').match(install)).to.deep.equal(read('README.md').match(install));
  });

  it('has the settings of TypeScript that a new project has', () => {
    const guide = codeBlocks('docs/start.md').find(({ language }) => language === 'json');
    const { rootDir, ...shown } = JSON.parse(String(guide?.code)).compilerOptions;
    const { rootDir: _, ...written } = JSON.parse(read('template/notes/tsconfig.json')).compilerOptions;
    expect(rootDir).to.equal('src');
    expect(written).to.deep.equal(shown);
  });

  it('says which packages its programs need', () => {
    const missing = guidePages().flatMap((page) => missingPackages(page).map((name) => `${page}: ${name}`));
    expect(missing).to.deep.equal([]);
  });

  it(`has a README of at most ${LONGEST_README} lines`, () => {
    expect(read('README.md').trimEnd().split('\n').length).to.be.at.most(LONGEST_README);
  });
});
