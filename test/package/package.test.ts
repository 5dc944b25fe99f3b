/** The package as users get it: the tarball, checked by linters, by Node, by the compiler and by npm. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { expect } from 'chai';
import { publint } from 'publint';
import { forSuite } from '../support/for-suite.js';
import { COMPILED_SOURCE, PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase } from '../support/postgres.js';
import { guidePages } from '../support/readme-examples.js';
import { itWhole } from '../support/short.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { installedPackages, packagesOfReadme } from './install-line.js';
import { createProject, pack, readManifest, requiredPeers, type Tarball } from './packed-package.js';
import { run, tryRun } from './run.js';

/** Sources of a user with the whole chain: a model, a subclass with an override and a route, and an application. */
const CONSUMER = `
import { bootstrap, Crud, type CrudContext, crudController, engineLifespan, type Id, Repository, readSchema, type ReadQuery } from 'crud-controllers';
import express from 'express';
import { Get, Param } from 'routing-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';

@Crud({ sortAllow: ['name'], filterAllow: { name: ['=='] } })
@Table
class City extends Model {
  @Column(DataType.STRING)
  declare name: string;
}

class CityController extends crudController(City) {
  override read(id: Id, query: ReadQuery, context: CrudContext): Promise<City> {
    return super.read(id, query, context);
  }

  @Get('/:id/name')
  async name(@Param('id') id: string): Promise<string> {
    return (await new Repository(City).get(id)).name;
  }
}

export async function main(dsn: string): Promise<string> {
  const app = express();
  await using _engine = await engineLifespan(dsn, { models: [City] })(app);
  const { routes } = await bootstrap(app, { controllers: [CityController] });
  return \`\${readSchema(City).name}: \${routes.length}\`;
}
`;

const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
};

describe('the packed package', function () {
  this.timeout(120_000);
  const folder = forSuite(() => createTemporaryFolder('package'));
  let project: string;
  let tarball: Tarball;

  before(async () => {
    project = join(folder.path, 'project');
    mkdirSync(project);
    tarball = await pack();
    await createProject(project, tarball);
  });

  function addFile(name: string, content: string): string {
    const file = join(project, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  it('holds the sources, what was compiled from them, the template of a project, a data provider, and documents', () => {
    const others = tarball.files.filter(
      (file) =>
        !/^(?:src\/.*(?<!\.d)\.ts|dist\/src\/.*\.(?:js|js\.map|d\.ts)|dist\/swagger-ui\/[\w.-]+|docs\/\w[\w-]*\.(?:md|png)|template\/.*|sample\/admin\/(?:components|data-provider)\/[\w-]+\.tsx?)$/.test(
          file,
        ),
    );
    expect(others).to.have.members([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bench/results/latest.svg',
      'docs/grafana-dashboard.json',
      'package.json',
    ]);
    expect(tarball.files).to.include.members([
      ...guidePages(),
      'sample/admin/data-provider/data-provider.ts',
    ]);
  });

  it('has documents whose links lead to its own files', async () => {
    const dead: string[] = [];
    for (const page of tarball.files.filter((file) => file.endsWith('.md'))) {
      const text = await readFile(join(project, 'node_modules/crud-controllers', page), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)) {
        const target = posix.join(posix.dirname(page), link);
        if (!tarball.files.some((file) => `${file}/`.startsWith(`${target}/`))) dead.push(`${page}: ${link}`);
      }
    }
    expect(dead, 'Name the file in words, or add it to files of package.json.').to.deep.equal([]);
  });

  it('names one repository', async () => {
    const { repository, homepage, bugs } = (await readManifest()) as unknown as Record<string, unknown>;
    const address = /^git\+(https:\/\/.+)\.git$/.exec(Object(repository).url)?.[1];
    expect([homepage, bugs]).to.deep.equal([`${address}#readme`, `${address}/issues`]);
  });

  it('holds the JavaScript and the types of every source', () => {
    const sources = tarball.files.filter((file) => file.startsWith('src/'));
    const compiled = sources.flatMap((file) =>
      ['.js', '.d.ts'].map((end) => `dist/${file.replace(/\.ts$/, end)}`),
    );
    expect(sources).to.include('src/index.ts');
    const shipped = tarball.files.filter((file) => file.startsWith('dist/src/') && !file.endsWith('.js.map'));
    expect(shipped).to.have.members([...compiled, 'dist/src/modules.js']);
  });

  it('is loaded from few files, which have all that an application of the usual features needs', async () => {
    const file = addFile(
      'loads.cjs',
      `require('crud-controllers');
      const own = Object.keys(require.cache).filter((file) => /crud-controllers.dist/.test(file));
      console.log(JSON.stringify(own.map((file) => file.split(/dist.src./)[1])));`,
    );
    const { output } = await run(process.execPath, [file], project);
    expect(JSON.parse(output)).to.have.members(['index.js', 'modules.js', join('util', 'own-package.js')]);
  });

  it('holds each file that its modules require, beside packages', async () => {
    const requires = async (file: string) => {
      const text = await readFile(join(project, 'node_modules/crud-controllers', file), 'utf8');
      return [...text.matchAll(/\brequire\(["'](\.[^"']+)["']\)/g)].map(([, request = '']) =>
        posix.join(posix.dirname(file), request),
      );
    };
    const compiled = tarball.files.filter((file) => /^dist\/src\/.*\.js$/.test(file));
    const required = (await Promise.all(compiled.map(requires))).flat();
    expect(required).to.include.members(['dist/src/modules.js', 'dist/swagger-ui/assets.js']);
    expect(tarball.files).to.include.members(required);
  });

  it('names lines of its sources in traces, where Node reads source maps', async () => {
    const file = addFile(
      'trace.cjs',
      `const { serve } = require('crud-controllers');
      const lifespan = () => { throw new Error('here'); };
      serve({ use() {} }, { port: 0, lifespan }).catch(({ stack }) => console.log(stack));`,
    );
    const trace = async (...flags: string[]) =>
      (await run(process.execPath, [...flags, file], project)).output;
    expect(await trace()).to.match(/at serve \(.*dist.src.modules\.js:\d+/);
    const mapped = /at serve \(.*src.express.server.serve\.ts:(\d+)/.exec(
      await trace('--enable-source-maps'),
    );
    const source = await readFile(join(PACKAGE_ROOT, 'src/express/server/serve.ts'), 'utf8');
    expect(source.split('\n')[Number(mapped?.[1]) - 1]).to.include('lifespan?.(');
  });

  it('has one state, whichever of its files is required', async () => {
    const file = addFile(
      'state.cjs',
      `const { Repository } = require('crud-controllers');
      const inside = require('./node_modules/crud-controllers/dist/src/execute/records/repository.js');
      console.log(Repository.name, inside.Repository === Repository);`,
    );
    const { output } = await run(process.execPath, [file], project);
    expect(output).to.equal('Repository true\n');
  });

  it('holds the file that each source map points to', async () => {
    for (const file of tarball.files.filter((name) => name.endsWith('.map'))) {
      const { sources } = JSON.parse(
        await readFile(join(project, 'node_modules/crud-controllers', file), 'utf8'),
      );
      const targets = sources.map((source: string) => posix.join(posix.dirname(file), source));
      expect(tarball.files, file).to.include.members(targets);
    }
  });

  it('holds the files of Swagger UI that the page of the documentation loads, and their licenses', () => {
    expect(tarball.files.filter((file) => file.startsWith('dist/swagger-ui/'))).to.deep.equal(
      ['LICENSE', 'NOTICE', 'assets.js', 'swagger-ui-bundle.js.LICENSE.txt'].map(
        (name) => `dist/swagger-ui/${name}`,
      ),
    );
  });

  it('has nothing that publint complains about', async () => {
    const buffer = await readFile(tarball.path);
    const { messages } = await publint({
      strict: true,
      pack: { tarball: new Uint8Array(buffer).buffer },
    });
    expect(messages).to.deep.equal([]);
  });

  itWhole('has types that resolve in every way that Are The Types Wrong knows', async () => {
    const attw = join(PACKAGE_ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { output } = await tryRun(process.execPath, [attw, tarball.path, '--format', 'json'], folder.path);
    const { analysis, problems } = JSON.parse(output);
    expect(problems).to.deep.equal({});
    expect(analysis.problems).to.deep.equal([]);
    expect(Object.keys(analysis.entrypoints['.'].resolutions)).to.deep.equal([
      'node10',
      'node16-cjs',
      'node16-esm',
      'bundler',
    ]);
  });

  it('gives the same objects to require and to named imports', async () => {
    const names = Object.keys(createRequire(__filename)(join(COMPILED_SOURCE, 'index.js'))).sort();
    const file = addFile(
      'same.mjs',
      `import { createRequire } from 'node:module';
      import { ${names.join(', ')} } from 'crud-controllers';
      const required = createRequire(import.meta.url)('crud-controllers');
      const imported = { ${names.join(', ')} };
      const isSame = (name) => required[name] !== undefined && required[name] === imported[name];
      console.log(JSON.stringify({ required: Object.keys(required).sort(), same: Object.keys(imported).filter(isSame) }));`,
    );
    const { output } = await run(process.execPath, [file], project);
    expect(JSON.parse(output)).to.deep.equal({ required: names, same: names });
  });

  it('says which optional packages are missing before it connects to anything', async () => {
    const file = addFile(
      'optional.cjs',
      `const { engineLifespan } = require('crud-controllers');
      const urls = { clickhouse: 'http://localhost', cache: 'redis://localhost' };
      engineLifespan('postgres://localhost:1/nowhere', { models: [], ...urls })()
        .catch(({ problems }) => console.log(JSON.stringify(problems)));`,
    );
    const { output } = await run(process.execPath, [file], project);
    expect(JSON.parse(output)).to.deep.equal([
      'The engine option clickhouse needs the package @clickhouse/client; npm install @clickhouse/client.',
      'The engine option cache needs the package ioredis; npm install ioredis.',
    ]);
  });

  it('says at the start that imports take no CSV without their package', async () => {
    const database = await freshDatabase('package');
    const file = addFile(
      'imports.cjs',
      `require('reflect-metadata');
      const { bootstrap, Crud, engineLifespan } = require('crud-controllers');
      const { Column, DataType, Model, Table } = require('sequelize-typescript');
      class Note extends Model {}
      Column(DataType.TEXT)(Note.prototype, 'title');
      Table({ tableName: 'notes' })(Note);
      Crud({ import: { modes: ['create'] } })(Note);
      (async () => {
        const app = require('express')();
        const engine = await engineLifespan(process.argv[2], { models: [Note], createAll: true })(app);
        await bootstrap(app, { logger: { debug() {}, info() {}, warn: console.log, error: console.log } });
        await engine[Symbol.asyncDispose]();
      })();`,
    );
    const { output } = await run(process.execPath, [file, database.url], project);
    await database.drop();
    expect(output).to.equal(
      'Note: import takes no CSV without the package csv-parse; npm install csv-parse. JSON lines need none.\n',
    );
  });

  it('keeps its files to itself', async () => {
    const file = addFile(
      'inside.cjs',
      `try { require('crud-controllers/dist/src/index.js'); } catch (error) { console.log(error.code); }
      console.log(require('crud-controllers/package.json').name);`,
    );
    const { output } = await run(process.execPath, [file], project);
    expect(output.split('\n')).to.deep.equal(['ERR_PACKAGE_PATH_NOT_EXPORTED', 'crud-controllers', '']);
  });

  for (const type of ['commonjs', 'module']) {
    it(`type-checks in a project of type ${type}, with the types of all libraries`, async () => {
      const configuration = { compilerOptions: COMPILER_OPTIONS, files: ['consumer.ts'] };
      addFile(`${type}/package.json`, JSON.stringify({ type }));
      addFile(`${type}/consumer.ts`, CONSUMER);
      addFile(`${type}/tsconfig.json`, JSON.stringify(configuration));
      const { everything } = await tryRun(
        process.execPath,
        [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc'), '-p', type],
        project,
      );
      expect(everything).to.equal('');
    });
  }

  it('does not type-check when it is used wrongly', async () => {
    addFile('wrong/consumer.ts', CONSUMER.replace("sortAllow: ['name']", "sortAllow: ['nmae']"));
    addFile(
      'wrong/tsconfig.json',
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ['consumer.ts'] }),
    );
    const { everything } = await tryRun(
      process.execPath,
      [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'wrong'],
      project,
    );
    expect(everything).to.include(`Type '"nmae"' is not assignable`);
  });
});

describe('the install line of the README', () => {
  it('names every peer that the package needs, and no optional one', async () => {
    const names = packagesOfReadme().map((name) => name.replace(/(?!^)@.*$/, ''));
    const manifest = await readManifest();
    const required = requiredPeers(manifest);
    expect(names).to.include.members(required);
    const optional = Object.keys(manifest.peerDependencies).filter((peer) => !required.includes(peer));
    expect(optional).to.deep.equal([
      '@clickhouse/client',
      '@opentelemetry/api',
      'csv-parse',
      'ioredis',
      'prom-client',
    ]);
    expect(names.filter((name) => optional.includes(name))).to.deep.equal([]);
  });

  it('is found in a code block only', () => {
    const text =
      'Run `npm install crud-controllers`:\n\nnpm install crud-controllers a\n\n```sh\n# first\nnpm install crud-controllers b c@^1\n```\n';
    expect(installedPackages(text)).to.deep.equal(['b', 'c@^1']);
    expect(() => installedPackages('npm install crud-controllers a')).to.throw('README.md has no code block');
  });
});
