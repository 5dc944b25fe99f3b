/** The scanner that the architecture tests stand on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { scanModule } from './scan-module.js';
import { readSourceTree } from './source-tree.js';

/** `kind specifier`, with `type` before it when it is erased. */
function scan(source: string): string[] {
  return scanModule(source).references.map(
    ({ kind, specifier, isTypeOnly }) => `${isTypeOnly ? 'type ' : ''}${kind} ${specifier}`,
  );
}

describe('the module scanner', () => {
  describe('imports', () => {
    const samples: Readonly<Record<string, string[]>> = {
      "import { a } from 'x';": ['import x'],
      "import { a, b as c } from 'x'": ['import x'],
      "import a from 'x';": ['import x'],
      "import a, { b } from 'x';": ['import x'],
      "import a, * as b from 'x';": ['import x'],
      "import * as a from 'x';": ['import x'],
      "import 'x';": ['import x'],
      'import "x";': ['import x'],
      "import {\n  type A,\n  b,\n} from 'x';": ['import x'],
      "import { a } from 'x' with { type: 'json' };": ['import x'],
      "import type from 'x';": ['import x'],
      "import type, { a } from 'x';": ['import x'],
      "import { type as a } from 'x';": ['import x'],
      "import { a, type B } from 'x';": ['import x'],
      "import a, { type B } from 'x';": ['import x'],
      "import a = require('x');": ['import x'],
      "const a = require('x');": ['require x'],
      "import type { A } from 'x';": ['type import x'],
      "import type A from 'x';": ['type import x'],
      "import type * as A from 'x';": ['type import x'],
      "import type from from 'x';": ['type import x'],
      "import type A = require('x');": ['type import x'],
      "import {\n  type A,\n  type B as C,\n} from 'x';": ['type import x'],
      "import { type as as a } from 'x';": ['type import x'],
      "import { type as } from 'x';": ['type import x'],
    };
    for (const [source, expected] of Object.entries(samples)) {
      it(`finds ${expected.join()} in ${JSON.stringify(source)}`, () => {
        expect(scan(source)).to.deep.equal(expected);
      });
    }
  });

  describe('import()', () => {
    const samples: Readonly<Record<string, string[]>> = {
      "await import('x');": ['dynamic x'],
      'await import(`x`);': ['dynamic x'],
      "[...import('x')];": ['dynamic x'],
      "import('x', { with: { type: 'json' } });": ['dynamic x'],
      'import(name);': ['dynamic null'],
      "import('x' + name);": ['dynamic null'],
      'import(`x/\u0024{name}`);': ['dynamic null'],
      "type X = typeof import('x');": ['type dynamic x'],
      'import.meta.url;': [],
      "loader.import('x');": [],
    };
    for (const [source, expected] of Object.entries(samples)) {
      it(`finds ${expected.join() || 'nothing'} in ${JSON.stringify(source)}`, () => {
        expect(scan(source)).to.deep.equal(expected);
      });
    }
  });

  describe('re-exports', () => {
    const samples: Readonly<Record<string, string[]>> = {
      "export { a } from 'x';": ['export x'],
      "export { a, type B } from 'x';": ['export x'],
      "export * from 'x';": ['export x'],
      "export * as a from 'x';": ['export x'],
      "export type { A } from 'x';": ['type export x'],
      "export { type A } from 'x';": ['type export x'],
      "export type * from 'x';": ['type export x'],
      'export { a };': [],
      "export const from = 'x';": [],
      "export type A = 'x';": [],
      "export interface A { from: 'x' }": [],
      'this.require(name);': [],
    };
    for (const [source, expected] of Object.entries(samples)) {
      it(`finds ${expected.join() || 'nothing'} in ${JSON.stringify(source)}`, () => {
        expect(scan(source)).to.deep.equal(expected);
      });
    }

    it('names what is exported, and under which name', () => {
      const { references } = scanModule("export { a, b as c, type D, default as e } from 'x';");
      expect(references.flatMap(({ names }) => names)).to.deep.equal([
        { source: 'a', name: 'a', isTypeOnly: false },
        { source: 'b', name: 'c', isTypeOnly: false },
        { source: 'D', name: 'D', isTypeOnly: true },
        { source: 'default', name: 'e', isTypeOnly: false },
      ]);
    });
  });

  describe('default exports', () => {
    for (const source of ['export default 1;', 'export { a as default };', 'export = a;']) {
      it(`sees one in ${JSON.stringify(source)}`, () => {
        expect(scanModule(`\n${source}`).defaultExports).to.deep.equal([2]);
      });
    }

    for (const source of ['export const a = { default: 1 };', "export { default as a } from 'x';"]) {
      it(`sees none in ${JSON.stringify(source)}`, () => {
        expect(scanModule(source).defaultExports).to.deep.equal([]);
      });
    }
  });

  describe('what only looks like code', () => {
    const samples: Readonly<Record<string, string>> = {
      'a line comment': "// import 'x';",
      'a block comment': "/* import 'x';\n export * from 'x'; */",
      'a string': "\"import 'x';\" + 'it\\'s; import \"x\";'",
      'a template': "`import 'x';`",
      'a nested template': [
        "`\u0024{`import 'x'; \u0024{1}`} import 'x';",
        "\u0024{{ a: 1 }.a} import 'x'`",
      ].join(''),
      'a regular expression': "text.replace(/import 'x'[/']/g, '')",
      'a property': "({ import: 'x', require: 'y' })",
    };
    for (const [name, source] of Object.entries(samples)) {
      it(`is not found in ${name}, and what follows it is`, () => {
        expect(scan(`${source}\nimport 'after';`)).to.deep.equal(['import after']);
      });
    }

    it('is found in the substitution of a template, where it is code', () => {
      expect(scan("`\u0024{await import('x')}`")).to.deep.equal(['dynamic x']);
    });

    it('is not found after a division', () => {
      expect(scan("const a = b / c; import 'x'; const d = (e) / f[0] / 2;")).to.deep.equal(['import x']);
    });
  });

  it('gives the line of each', () => {
    const source = "/**\n * a\n */\nimport {\n  a,\n} from 'x';\nconst b = `\n\n`;\nexport * from 'y';\n";
    expect(scanModule(source).references.map(({ line }) => line)).to.deep.equal([4, 10]);
  });

  it('finds in every file of src just what the compiler left in the compiled one', () => {
    let compared = 0;
    for (const [file, source] of readSourceTree()) {
      const compiled = join(COMPILED_SOURCE, file.replace(/\.ts$/, '.js'));
      if (file.endsWith('.d.ts')) continue;
      const emitted = readFileSync(compiled, 'utf8').matchAll(/\b(?:require|import)\(["']([^"']+)["']\)/g);
      const found = scanModule(source)
        .references.filter(({ isTypeOnly, specifier }) => !isTypeOnly && specifier !== null)
        .map(({ specifier }) => specifier);
      expect(new Set(found), file).to.deep.equal(new Set([...emitted].map(([, specifier]) => specifier)));
      compared += found.length;
    }
    expect(compared).to.be.above(100);
  });
});
