/** Comments: every file of `src` has one, and every export of the package. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { exportedDeclarations, fileComment } from './doc-comments.js';
import { publicNames } from './public-names.js';
import { readSourceTree } from './source-tree.js';

const sources = readSourceTree();
/** Something of more than ten characters with a full stop; links may follow. */
const SENTENCES = /^[\s\S]{10,}[.?](?:\s+https:\S+)*$/;

/** Fails with one violation a line. */
function expectNone(problems: readonly string[]): void {
  expect(problems.join('\n')).to.equal('');
}

describe('SECURITY.md', () => {
  it('names tests that are there', () => {
    const text = readFileSync(join(PACKAGE_ROOT, 'SECURITY.md'), 'utf8');
    const named = [...text.matchAll(/`((?:unit|feature|fault|process|browser)\/[\w/-]+)`/g)].map(([, name]) =>
      join(PACKAGE_ROOT, 'test', String(name)),
    );
    expect(named).to.have.length.above(10);
    expectNone(named.filter((path) => !existsSync(path.endsWith('/') ? path : `${path}.test.ts`)));
  });
});

describe('the documentation of src', () => {
  it('opens every file with a comment that says its job in a sentence or two', () => {
    expectNone(
      [...sources]
        .filter(([, source]) => !SENTENCES.test(fileComment(source) ?? ''))
        .map(([file]) => `${file} does not open with a sentence in a block comment.`),
    );
  });

  it('has a doc comment for everything that is exported', () => {
    expectNone(
      [...sources].flatMap(([file, source]) =>
        exportedDeclarations(source)
          .filter(({ comment }) => !comment)
          .map(({ name }) => `${file} says nothing about ${name}.`),
      ),
    );
  });

  it('has an example for every public function and class', () => {
    expectNone(
      publicNames(sources)
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .map(({ name, file }) => ({ name, file, source: sources.get(file) ?? '' }))
        .filter(({ name, source }) => !exampleOf(name, source))
        .map(({ name, file }) => `${file} gives no @example of ${name}.`),
    );
  });

  it('finds the declaration of every public name', () => {
    expectNone(
      publicNames(sources)
        .filter(({ name, file }) => !declarationOf(name, sources.get(file) ?? ''))
        .map(({ name, file }) => `${name} is not declared in ${file}.`),
    );
  });
});

function declarationOf(name: string, source: string) {
  return exportedDeclarations(source).find((declaration) => declaration.name === name);
}

/** The text after `@example`, up to the next tag. */
function exampleOf(name: string, source: string): string {
  return (
    /@example\b((?:(?!\n@[a-z])[\s\S])*)/.exec(declarationOf(name, source)?.comment ?? '')?.[1]?.trim() ?? ''
  );
}

describe('the scanner of doc comments', () => {
  const source = [
    '/** The file. */',
    "import { a } from 'x';",
    '',
    '/**',
    ' * A class.',
    ' *',
    ' * @example',
    ' * ```ts',
    ' * @Crud() class B {}',
    ' * ```',
    ' */',
    '@Decorated({ a: 1 })',
    'export abstract class A {}',
    '',
    '/** Not of B. */',
    'const c = 1;',
    '',
    'export function b() {}',
    '',
    '/** D. */',
    '// biome-ignore lint: a reason',
    'export async function d() {}',
  ].join('\n');

  it('finds what stands right before a declaration, decorators and line comments in between', () => {
    expect(exportedDeclarations(source)).to.deep.equal([
      { name: 'A', kind: 'class', comment: 'A class.\n\n@example\n```ts\n@Crud() class B {}\n```' },
      { name: 'b', kind: 'function', comment: null },
      { name: 'd', kind: 'function', comment: 'D.' },
    ]);
  });

  it('takes the first comment of a file for that of the file only when nothing else follows it', () => {
    expect(fileComment(source)).to.equal('The file.');
    expect(fileComment('/** The file. */\n\n/** A. */\nexport type A = 1;\n')).to.equal('The file.');
    expect(fileComment('/** A. */\nexport type A = 1;\n')).to.equal(null);
    expect(fileComment("import 'x';\n")).to.equal(null);
    expect(fileComment('// The file.\n')).to.equal(null);
  });

  it('reads an example up to the next tag', () => {
    expect(exampleOf('A', source)).to.equal('```ts\n@Crud() class B {}\n```');
    expect(exampleOf('d', source)).to.equal('');
  });
});
