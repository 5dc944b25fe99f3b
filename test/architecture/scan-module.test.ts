/** The scanner of the architecture tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { scanModule } from './scan-module.js';
import { readSourceTree } from './source-tree.js';

/** `kind specifier`, with `type` before it when it is erased. */
function scan(source: string): string[] {
  return scanModule(source).map(
    ({ kind, specifier, isTypeOnly }) => `${isTypeOnly ? 'type ' : ''}${kind} ${specifier}`,
  );
}

describe('the module scanner', () => {
  const samples: Readonly<Record<string, string>> = {
    "import { a, b as c } from 'x';": 'import x',
    "import a, { type B } from 'x';": 'import x',
    "import * as a from 'x';": 'import x',
    "import 'x';": 'import x',
    "import {\n  type A,\n  b,\n} from 'x';": 'import x',
    "import { a } from 'x' with { type: 'json' };": 'import x',
    "const a = require('x');": 'require x',
    "import type { A } from 'x';": 'type import x',
    "import type A from 'x';": 'type import x',
    "import {\n  type A,\n  type B as C,\n} from 'x';": 'type import x',
    "await import('x');": 'dynamic x',
    'import(name);': 'dynamic null',
    "type X = typeof import('x');": 'type dynamic x',
    "export { a, type B } from 'x';": 'export x',
    "export * as a from 'x';": 'export x',
    "export type { A } from 'x';": 'type export x',
    "export { type A } from 'x';": 'type export x',
    "export type * from 'x';": 'type export x',
  };
  for (const [source, expected] of Object.entries(samples)) {
    it(`finds ${expected} in ${JSON.stringify(source)}`, () => {
      expect(scan(source)).to.deep.equal([expected]);
    });
  }

  for (const source of [
    'import.meta.url;',
    "loader.import('x');",
    'export { a };',
    "export const from = 'x';",
    "export type A = 'x';",
    "export interface A { from: 'x' }",
    'this.require(name);',
    "// import 'x';",
    "/*\nimport 'x';\nexport * from 'x';\n*/",
    "const text = `\nimport 'x';\n`;",
    'const text = "it\'s; import x /*";',
  ]) {
    it(`finds nothing in ${JSON.stringify(source)}, and what follows it`, () => {
      expect(scan(`${source}\nimport 'after';`)).to.deep.equal(['import after']);
    });
  }

  it('names what is exported, and under which name', () => {
    const [reference] = scanModule("export { a, b as c, type D, default as e } from 'x';");
    expect(reference?.names).to.deep.equal([
      { source: 'a', name: 'a', isTypeOnly: false },
      { source: 'b', name: 'c', isTypeOnly: false },
      { source: 'D', name: 'D', isTypeOnly: true },
      { source: 'default', name: 'e', isTypeOnly: false },
    ]);
  });

  it('gives the line of each', () => {
    const source = "/**\n * a\n */\nimport {\n  a,\n} from 'x';\nconst b = `\n\n`;\nexport * from 'y';\n";
    expect(scanModule(source).map(({ line }) => line)).to.deep.equal([4, 10]);
  });

  it('finds in every file of src just what the compiler left in the compiled one', () => {
    let compared = 0;
    for (const [file, source] of readSourceTree()) {
      const compiled = join(COMPILED_SOURCE, file.replace(/\.ts$/, '.js'));
      if (file.endsWith('.d.ts')) continue;
      const emitted = readFileSync(compiled, 'utf8').matchAll(/\b(?:require|import)\(["']([^"']+)["']\)/g);
      const found = scanModule(source)
        .filter(({ isTypeOnly, specifier }) => !isTypeOnly && specifier !== null)
        .map(({ specifier }) => specifier);
      expect(new Set(found), file).to.deep.equal(new Set([...emitted].map(([, specifier]) => specifier)));
      compared += found.length;
    }
    expect(compared).to.be.above(100);
  });
});
