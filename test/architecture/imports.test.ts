/** Imports in `src` follow the rules of ARCHITECTURE.md; then each rule on sources that break it. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import {
  findCycles,
  findInputAndOutput,
  findLooseFrameworks,
  findLooseInternals,
  findOversized,
  findPastDoors,
  findUndeclaredPackages,
  findUnnamedExports,
  findWrongDirections,
  LAYERS,
  type ModuleTree,
  scanModules,
} from './rules.js';
import { readSourceTree } from './source-tree.js';

function modules(sources: Readonly<Record<string, string>>): ModuleTree {
  return scanModules(new Map(Object.entries(sources)));
}

/** Fails with one violation a line. */
function expectNone(problems: readonly string[]): void {
  expect(problems.join('\n')).to.equal('');
}

describe('the imports of src', () => {
  const source = scanModules(readSourceTree());

  it('are all looked at', () => {
    const folders = new Set([...source.keys()].map((file) => file.split('/')[0]));
    expect([...folders]).to.include.members([
      'declare',
      'compile',
      'request',
      'express',
      'bootstrap.ts',
      'index.ts',
    ]);
    expect([...source.values()].flat()).to.have.length.above(100);
  });

  it('go from a later phase to an earlier one only, and never to index.ts', () => {
    expectNone(findWrongDirections(source));
  });

  it('enter a room by its door', () => {
    expectNone(findPastDoors(source));
  });

  it('make no circle, of types neither', () => {
    expectNone(findCycles(source));
  });

  it('stand in folders and files that a reader can survey', () => {
    expectNone(findOversized(readSourceTree()));
  });

  it('touch each framework only where it belongs', () => {
    expectNone(findLooseFrameworks(source));
  });

  it('read internals of frameworks only where it is looked whether they are there', () => {
    expectNone(findLooseInternals(readSourceTree()));
  });

  it('do no input or output in the pure phases', () => {
    expectNone(findInputAndOutput(source));
  });

  it('are of names: no export *, no computed imports', () => {
    expectNone(findUnnamedExports(source));
  });

  it('are of packages that every installation has', () => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
    );
    expectNone(
      findUndeclaredPackages(source, new Set(Object.keys({ ...dependencies, ...peerDependencies }))),
    );
  });
});

describe('the rule of directions', () => {
  const repository = { 'execute/records/repository.ts': 'export class Repository {}' };

  it('names a file that imports a later phase, and what it imports', () => {
    const source = "\nimport { Repository } from '../execute/records/repository.js';";
    expect(findWrongDirections(modules({ ...repository, 'features/parse.ts': source }))).to.deep.equal([
      "features/parse.ts:2 imports '../execute/records/repository.js': execute/records/ comes after features/.",
    ]);
  });

  it('counts types, re-exports and import() as well', () => {
    const source = [
      "import type { Repository } from '../execute/records/repository.js';",
      "export { Repository as Rows } from '../execute/records/repository.js';",
      "const later = import('../execute/records/repository.js');",
    ].join('\n');
    expect(findWrongDirections(modules({ ...repository, 'compile/a.ts': source }))).to.deep.equal([
      "compile/a.ts:1 imports '../execute/records/repository.js': execute/records/ comes after compile/.",
      "compile/a.ts:2 imports '../execute/records/repository.js': execute/records/ comes after compile/.",
      "compile/a.ts:3 imports '../execute/records/repository.js': execute/records/ comes after compile/.",
    ]);
  });

  for (const [index, later] of LAYERS.entries()) {
    for (const earlier of LAYERS.slice(0, index)) {
      it(`lets ${later}/ import ${earlier}/ and not the other way round`, () => {
        const sources = {
          [`${later}/a.ts`]: `import { b } from './${posix.relative(later, earlier)}/b.js';`,
          [`${earlier}/b.ts`]: `import { a } from './${posix.relative(earlier, later)}/a.js';`,
        };
        const target = `./${posix.relative(earlier, later)}/a.js`;
        expect(findWrongDirections(modules(sources))).to.deep.equal([
          `${earlier}/b.ts:1 imports '${target}': ${later}/ comes after ${earlier}/.`,
        ]);
      });
    }
  }

  it('lets nothing import index.ts, by its path or by the name of the package', () => {
    const sources = {
      'index.ts': '',
      'express/server/a.ts': "import { Crud } from '../../index.js';",
      'bootstrap.ts': "import { Crud } from 'crud-controllers';",
    };
    expect(findWrongDirections(modules(sources))).to.deep.equal([
      "express/server/a.ts:1 imports '../../index.js': nothing inside imports index.ts.",
      "bootstrap.ts:1 imports 'crud-controllers': nothing inside imports index.ts.",
    ]);
  });

  it('lets no phase import bootstrap.ts', () => {
    const sources = {
      'bootstrap.ts': '',
      'express/server/a.ts': "import { bootstrap } from '../../bootstrap.js';",
    };
    expect(findWrongDirections(modules(sources))).to.deep.equal([
      "express/server/a.ts:1 imports '../../bootstrap.js': bootstrap.ts comes after express/server/.",
    ]);
  });

  it('names a folder or root file that belongs to no layer', () => {
    expect(findWrongDirections(modules({ 'utils/a.ts': '', 'helpers.ts': '' })).join()).to.match(
      /^utils\/a\.ts belongs to no layer: util, .*,helpers\.ts belongs to no layer: /,
    );
  });

  it('names an import of what is not in src, a folder included', () => {
    const source = "import '../../../test/support/a.js';\nimport '../../compile';";
    expect(findWrongDirections(modules({ 'express/server/a.ts': source, 'compile/a.ts': '' }))).to.deep.equal(
      [
        "express/server/a.ts:1 imports '../../../test/support/a.js': there is no such file in src.",
        "express/server/a.ts:2 imports '../../compile': there is no such file in src.",
      ],
    );
  });
});

describe('the rule of doors', () => {
  it('names an import past a door', () => {
    const sources = {
      'postgres/index.ts': "export { run } from './engine/a.js';",
      'postgres/engine/a.ts': "import { b } from '../session/b.js';",
      'postgres/session/b.ts': '',
      'execute/sql/a.ts': "import { run } from '../../postgres/index.js';",
      'execute/sql/b.ts': "import type { b } from '../../postgres/session/b.js';",
    };
    expect(findPastDoors(modules(sources))).to.deep.equal([
      "execute/sql/b.ts:1 imports '../../postgres/session/b.js': import it from postgres/index.ts.",
    ]);
  });
});

describe('the rule of sizes', () => {
  it('names a folder with too many files, and a file with too many lines', () => {
    const files = Array.from({ length: 25 }, (_, index): [string, string] => [`compile/${index}.ts`, '']);
    const long = '\n'.repeat(401);
    expect(findOversized(new Map([...files, ['features/a.ts', long]]))).to.deep.equal([
      'compile/ has 25 files; 24 is the limit.',
      'features/a.ts has 401 lines; 400 is the limit.',
    ]);
  });

  it('allows what is at the limit', () => {
    const files = Array.from({ length: 24 }, (_, index): [string, string] => [`compile/${index}.ts`, '']);
    expect(findOversized(new Map([...files, ['features/a.ts', '\n'.repeat(400)]]))).to.deep.equal([]);
  });
});

describe('the rule of circles', () => {
  it('names every file of a circle, once', () => {
    const sources = {
      'express/entry.ts': "import './a.js';",
      'express/a.ts': "import { b } from './b.js';",
      'express/b.ts': "export { c } from './c.js';",
      'express/c.ts': "import { a } from './a.js';",
    };
    expect(findCycles(modules(sources))).to.deep.equal([
      'express/a.ts -> express/b.ts -> express/c.ts -> express/a.ts is a cycle.',
    ]);
  });

  it('names a file that imports itself', () => {
    expect(findCycles(modules({ 'compile/a.ts': "import { a } from './a.js';" }))).to.deep.equal([
      'compile/a.ts -> compile/a.ts is a cycle.',
    ]);
  });

  it('counts types', () => {
    const sources = {
      'compile/a.ts': "import { b } from './b.js';",
      'compile/b.ts': "import type { A } from './a.js';",
    };
    expect(findCycles(modules(sources))).to.deep.equal([
      'compile/a.ts -> compile/b.ts -> compile/a.ts is a cycle.',
    ]);
  });
});

describe('the rule of internals', () => {
  const SOURCES = {
    'interface A {\n  readonly _scope?: object;\n}': ["a.ts:2 declares a field of a framework's internals."],
    'interface A {\n  _connect(settings: object): void;\n}': [
      "a.ts:2 declares a field of a framework's internals.",
    ],
    'const { _scope } = model as { readonly _scope?: object };': [
      "a.ts:1 declares a field of a framework's internals.",
    ],
    'const { hooks } = model as unknown as { hooks: object };': ['a.ts:1 casts to what nothing checks.'],
    "import { getMetadataArgsStorage } from 'routing-controllers';": [
      "a.ts:1 imports 'routing-controllers': only *-internals.ts touches a storage.",
    ],
    "import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';": [
      "a.ts:1 imports 'class-transformer/cjs/storage.js': only *-internals.ts touches a storage.",
    ],
  };

  for (const [source, problems] of Object.entries(SOURCES)) {
    it(`does not allow ${source.replace(/\s+/g, ' ')} but in the file that checks`, () => {
      expect(findLooseInternals(new Map([['a.ts', source]]))).to.deep.equal(problems);
      expect(findLooseInternals(new Map([['describe/sequelize-internals.ts', source]]))).to.deep.equal([]);
    });
  }
});

describe('the rule of frameworks', () => {
  it('names the file, the import and the places', () => {
    const sources = { 'respond/a.ts': "import {\n  Model,\n} from 'sequelize';" };
    expect(findLooseFrameworks(modules(sources))).to.deep.equal([
      "respond/a.ts:1 imports 'sequelize': only describe/, errors/, execute/, postgres/, inspect/, scaffold/, engine-lifespan.ts may use it.",
    ]);
  });

  it('names each file of respond/ when more than one uses class-validator or class-transformer', () => {
    const sources = {
      'respond/a.ts': "import { validate } from 'class-validator';",
      'respond/b.ts': "import { plainToInstance } from 'class-transformer';",
    };
    expect(findLooseFrameworks(modules(sources))).to.deep.equal([
      "respond/a.ts:1 imports 'class-validator': only schema/, one file of respond/ may use it, and respond/b.ts does.",
      "respond/b.ts:1 imports 'class-transformer': only schema/, one file of respond/ may use it, and respond/a.ts does.",
    ]);
  });
});

describe('the rule of input and output', () => {
  for (const layer of ['util', 'declare', 'describe', 'compile', 'schema', 'request/query']) {
    it(`keeps it out of ${layer}/`, () => {
      const source = "import { readFile } from 'node:fs/promises';\nconst net = require('net');";
      expect(findInputAndOutput(modules({ [`${layer}/a.ts`]: source }))).to.deep.equal([
        `${layer}/a.ts:1 imports 'node:fs/promises': ${layer}/ does no input or output.`,
        `${layer}/a.ts:2 imports 'net': ${layer}/ does no input or output.`,
      ]);
    });
  }
});

describe('the rule of names', () => {
  it('names export * and computed imports', () => {
    const source = [
      "export * from './b.js';",
      "export * as b from './b.js';",
      "export type * from './b.js';",
      'await import(name);',
    ].join('\n');
    expect(findUnnamedExports(modules({ 'express/a.ts': source }))).to.deep.equal([
      "express/a.ts:1 imports './b.js': export * hides what is exported; name it.",
      "express/a.ts:2 imports './b.js': export * hides what is exported; name it.",
      "express/a.ts:3 imports './b.js': export * hides what is exported; name it.",
      'express/a.ts:4 imports a computed path: a computed import cannot be checked.',
    ]);
  });
});

describe('the rule of packages', () => {
  it('names a package that is only there in development', () => {
    const source = "import { expect } from 'chai';\nimport type { Server } from '@scope/server/types';";
    expect(findUndeclaredPackages(modules({ 'express/a.ts': source }), new Set(['express']))).to.deep.equal([
      "express/a.ts:1 imports 'chai': package.json has it neither in dependencies nor in peerDependencies.",
      "express/a.ts:2 imports '@scope/server/types': package.json has it neither in dependencies nor in peerDependencies.",
    ]);
  });
});
