/** The table of codes in the guide: it has each word that the source sets as the `code` of an error, and no other one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { readSourceTree } from './source-tree.js';

const PAGE = 'docs/errors.md';
/** Without the examples in comments. */
const sources = new Map(
  [...readSourceTree()].map(([file, source]) => [file, source.replaceAll(/^ *\*.*/gm, '')]),
);

/** The places where the source sets a code that is a word. SQLSTATEs have digits, and are left out. */
const WORDS: readonly RegExp[] = [
  /\bcode: '([a-z][\w.-]*)'/gi,
  /new (?:BodyError|FilterError|InvalidCursorError)\(\s*(?:\d+,\s*)?'([\w.-]+)'/g,
  /\b(?:wrong|issue|invalidAttribute)\([^,()]+(?:\([^()]*\))?, '(\w+)'/g,
  /\?\? '(refused)'/g,
];

/** More places, where the code is a value. Each of these files has to have some. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  'respond/item-problem.ts': /^ {2}\d{3}: '(\w+)',/gm,
  'respond/problem.ts': /^ {2}(?:(\w+): \{ status: 4\d\d)|^ {2}(\w+): \{\n {4}status: 4/gm,
  'request/query/cursor-codec.ts': /^ {2}'(cursor\.\w+)':/gm,
  'request/query/filter-syntax.ts': /^ {2}\| '(q\.[\w-]+)'/gm,
  'schema/body-values.ts': /\bname: '(\w+)'/g,
  'schema/column-rule.ts': /\b(?:rule|formRule)\(\s*'(\w+)'/g,
  'schema/column-rules.ts': /\b(?:rule|formRule)\(\s*'(\w+)'/g,
  'schema/derive-class.ts': /\bname: '(\w+)'/g,
};

/** An error whose code is no word, by file. The word comes from the patterns above, or is the name of a user's rule. */
const EXPRESSIONS: Readonly<Record<string, number>> = {
  'express/routes/own-parameter.ts': 2,
  'express/routes/own-value.ts': 1,
  'respond/item-problem.ts': 1,
  'respond/problem.ts': 4,
  'features/flag.ts': 1,
  'features/bulk/parse-item.ts': 1,
  'features/increment/amounts.ts': 1,
  'request/read-id.ts': 1,
  'request/query/cursor-codec.ts': 1,
  'request/query/filter-syntax.ts': 1,
  'schema/body-schema.ts': 2,
  'schema/body-values.ts': 1,
  'schema/request-issue.ts': 2,
};
const EXPRESSION =
  /\b(?:pointer|parameter)\b[^{}]*?\bcode(?:,|: (?!')[^,]+,)|\binvalidAttribute\(\w+, (?!')/g;

/** All matches of a pattern: the text of its first group that takes part. */
function found(pattern: RegExp, source: string): readonly string[] {
  return [...source.matchAll(pattern)].map(([, ...groups]) => groups.find((group) => group) ?? '');
}

function codesOfSource(): ReadonlySet<string> {
  const words = [...sources.values()].flatMap((source) => WORDS.flatMap((pattern) => found(pattern, source)));
  const others = Object.entries(ELSEWHERE).flatMap(([file, pattern]) => {
    const own = found(pattern, sources.get(file) ?? '');
    if (own.length === 0) throw new Error(`${file} has no codes any more; tell this test where they are.`);
    return own;
  });
  return new Set([...words, ...others]);
}

/** The first cells of the tables under the heading. */
function codesOfPage(text: string): ReadonlySet<string> {
  const [, section = ''] = text.split('\n## Codes\n');
  const [tables = ''] = section.split('\n## ');
  const cells = [...tables.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([\w.-]+)`/g)].map(([, code = '']) => code)));
}

describe('the codes of errors', () => {
  it('are those of the guide', () => {
    const page = codesOfPage(readFileSync(join(PACKAGE_ROOT, PAGE), 'utf8'));
    expect([...page].sort(), PAGE).to.deep.equal([...codesOfSource()].sort());
  });

  it('are words in the source, except where this test knows the values', () => {
    const counted = [...sources].map(
      ([file, source]) => [file, source.match(EXPRESSION)?.length ?? 0] as const,
    );
    expect(Object.fromEntries(counted.filter(([, times]) => times > 0))).to.deep.equal(EXPRESSIONS);
  });
});
