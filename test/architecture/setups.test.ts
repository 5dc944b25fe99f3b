/** The page of the setups shows the files that `npm run setups` uses, so that neither can be changed alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { codeBlocks } from '../support/readme-examples.js';

/** A block may be the content of several files. */
const SHOWN = /^run by npm run setups: (.*)$/;
const COMMON = 'test/setups/program';

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(PACKAGE_ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(PACKAGE_ROOT, file), 'utf8');
}

describe('the setups', () => {
  const shown = codeBlocks('docs/setups.md').flatMap(({ comment, code }) =>
    (SHOWN.exec(comment)?.[1]?.split(' ') ?? []).map((file) => [file, code] as const),
  );

  it('are on their page file by file', () => {
    expect(shown.map(([file]) => file).sort()).to.deep.equal(filesOf('test/setups'));
  });

  for (const [file, code] of shown) {
    it(`are on their page as they are in ${file}`, () => {
      expect(code).to.equal(read(file));
    });
  }

  it('begin as the first page does', () => {
    const start = codeBlocks('docs/start.md');
    const installed = start.flatMap(({ code }) => code.match(/^npm install .*$/gm) ?? []);
    expect(read(`${COMMON}/commands.sh`).match(/^npm install .*$/gm)).to.deep.equal(installed);
    expect(read(`${COMMON}/tsconfig.json`)).to.equal(start.find(({ language }) => language === 'json')?.code);
  });
});
