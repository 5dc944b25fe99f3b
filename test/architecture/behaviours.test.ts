/** The table of behaviours in `test/README.md`: it names files and titles that exist, and each row once. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';

const HEADING = '## Behaviours P0 and P1';
const TESTS = join(PACKAGE_ROOT, 'test');
const ROW = /^\| ([A-I]-?\d+) \|(.*)\|(.*)\|$/;

/** One line of a table: what holds a behavior. */
interface Row {
  readonly id: string;
  readonly tests: string;
}

/** The rows of the section. */
function rowsOf(readme: string): readonly Row[] {
  const [, section = ''] = readme.split(`\n${HEADING}\n`);
  const [tables = ''] = section.split('\n## ');
  return tables.split('\n').flatMap((line) => {
    const [, id, , tests] = ROW.exec(line) ?? [];
    return id && tests ? [{ id, tests: tests.trim() }] : [];
  });
}

/** What a row names that is not there. Titles follow the file that they are in. */
function missingOf({ id, tests }: Row, sourceOf: (file: string) => string | undefined): readonly string[] {
  let source: string | undefined;
  return [...tests.matchAll(/`([a-z]+\/[\w./-]+)`|"([^"]+)"/g)].flatMap(([, file, title = '']) => {
    if (file) {
      source = sourceOf(file);
      return source === undefined ? [`${id}: there is no ${file}`] : [];
    }
    return source?.includes(title) ? [] : [`${id}: no title has "${title}"`];
  });
}

/** The source of a test or a support file, as it would be read in a title. */
function sourceOf(name: string): string | undefined {
  const file = [`${name}.test.ts`, `${name}.ts`].map((each) => join(TESTS, each)).find(existsSync);
  return file && readFileSync(file, 'utf8').replaceAll("\\'", "'");
}

describe('the table of behaviours', () => {
  const rows = rowsOf(readFileSync(join(TESTS, 'README.md'), 'utf8'));

  it('names files and titles that exist', () => {
    expect(rows.flatMap((row) => missingOf(row, sourceOf))).to.deep.equal([]);
  });

  it('has a row for each behavior of its tables, once', () => {
    const ids = rows.map(({ id }) => id);
    expect(ids).to.deep.equal([...new Set(ids)]);
    for (const [table, last, others] of [
      ['A', 23, []],
      ['C', 8, []],
      ['E', 18, []],
      ['F', 17, [16]],
      ['G', 11, [5]],
      ['H-', 5, []],
      ['I', 3, []],
    ] as const) {
      const wanted = Array.from({ length: last }, (_, nth) => nth + 1).filter(
        (number) => !others.some((each) => each === number),
      );
      expect(ids).to.include.members(wanted.map((number) => `${table}${number}`));
    }
  });

  it('would be found wrong', () => {
    const found = (tests: string) =>
      missingOf({ id: 'A1', tests }, (file) => (file === 'unit/a' ? "it('b')" : undefined));
    expect(found('`unit/a` "b"')).to.deep.equal([]);
    expect(found('`unit/a` "c"')).to.deep.equal(['A1: no title has "c"']);
    expect(found('`unit/b` "b"')).to.deep.equal(['A1: there is no unit/b', 'A1: no title has "b"']);
    expect(rowsOf(`x\n${HEADING}\n| A1 | x | \`unit/a\` |\n\n## Next\n| A2 | x | y |`)).to.deep.equal([
      { id: 'A1', tests: '`unit/a`' },
    ]);
  });
});
