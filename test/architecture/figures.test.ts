/** Published figures are those of `bench/results`: `npm run figures` writes them. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';

/** The script, which is not compiled. */
interface Script {
  checkFigures(folder: string): readonly string[];
  writeFigures(folder: string): readonly string[];
}

describe('published figures', () => {
  let script: Script;
  let copy: string;

  before(async () => {
    script = (await import(pathToFileURL(join(PACKAGE_ROOT, 'scripts/figures.mjs')).href)) as Script;
  });

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'figures-'));
    for (const part of ['README.md', 'docs', 'bench/README.md', 'bench/results'])
      cpSync(join(PACKAGE_ROOT, part), join(copy, part), { recursive: true });
  });

  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  function change(file: string, from: RegExp, to: string): void {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text).to.match(from);
    writeFileSync(join(copy, file), text.replace(from, to));
  }

  it('are those of the results', () => {
    expect(script.checkFigures(PACKAGE_ROOT).join('\n')).to.equal('');
  });

  for (const [what, file, from, to, problem] of [
    [
      'in a sentence',
      'README.md',
      /reads [\d.]+ times as many/,
      'reads 7.7 times as many',
      /^README\.md:\d+: '7\.7' should be '[\d.]+', by bench\/results\/latest\.md, in '.*reads 7\.7 times as many records by id as .*'$/,
    ],
    [
      'about rounds',
      'docs/performance.md',
      /rounds of a ratio differ by up to [\d.]+ times/,
      'rounds of a ratio differ by up to 1.01 times',
      /^docs\/performance\.md:\d+: '1\.01' should be '[\d.]+', by bench\/results\/latest\.md, in '.*'$/,
    ],
    [
      'in a table',
      'docs/performance.md',
      /\| Express 4 \+ Sequelize \| [\d.]+ \|/,
      '| Express 4 + Sequelize | 7.7 |',
      /^docs\/performance\.md:\d+: '\| Express 4 \+ Sequelize \| 7\.7 .*' should be '\| Express 4 \+ Sequelize \| [\d.]+ .*', by bench\/results\/latest\.md$/,
    ],
    [
      'of no file',
      'docs/writes.md',
      /$/,
      'It is 7.7 times as fast.',
      /^docs\/writes\.md:\d+: '7\.7 times as ' is of no file\. /,
    ],
    [
      'in a text that the script does not find',
      'docs/sizing.md',
      /A model adds/,
      'A model has',
      /^docs\/sizing\.md has 'A model adds \{\} MB, by .*' 0 times, and scripts\/published-figures\.mjs says once\.$/,
    ],
    [
      'that the file has no longer',
      'bench/results/memory.md',
      /^\| pages of 100 \|.*\n/m,
      '',
      /^docs\/sizing\.md:\d+: bench\/results\/memory\.md has no row 'pages of 100' below 'Memory'\.$/,
    ],
  ] as const) {
    it(`are not wrong ${what}`, () => {
      change(file, from, to);
      const problems = script.checkFigures(copy);
      // A row may be behind several places of a page.
      expect(new Set(problems.map((each) => each.replace(/:\d+:/, ':')))).to.have.property('size', 1);
      expect(problems[0]).to.match(problem);
    });
  }

  it('are written anew from other results', () => {
    change(
      'bench/results/latest.md',
      /(times as fast[\s\S]*?\n\| node:http \+ pg, pipelined \| )[\d.]+/,
      '$10.25',
    );
    expect(script.checkFigures(copy)).to.have.lengthOf(1);
    expect(script.writeFigures(copy)).to.deep.equal(['README.md']);
    expect(script.checkFigures(copy)).to.deep.equal([]);
    expect(readFileSync(join(copy, 'README.md'), 'utf8')).to.include(
      'reads 4.0 times as many records by id as',
    );
    expect(script.writeFigures(copy)).to.deep.equal([]);
  });
});
