/** `crud-controllers init` for its user: the files of the packed package are built, pass their own tests, and are served. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../support/for-suite.js';
import { freshDatabase } from '../support/postgres.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { type Manifest, readManifest } from './packed-package.js';
import { installCommand, installProject, startProject } from './project.js';
import { run, tryRun } from './run.js';

describe('a project that init has written', function () {
  this.timeout(180_000);
  const folder = forSuite(() => createTemporaryFolder('init'));
  const database = forSuite(() => freshDatabase());
  let project: string;
  let manifest: Pick<Manifest, 'dependencies' | 'devDependencies'>;

  before(async () => {
    const command = await installCommand(folder.path);
    await run(process.execPath, [command, 'init', 'notes-api'], folder.path);
    project = join(folder.path, 'notes-api');
    manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  });

  it('has every file under its real name, and the name of the project in it', () => {
    expect(readdirSync(project).sort()).to.deep.equal([
      '.dockerignore',
      '.gitignore',
      'Dockerfile',
      'README.md',
      'compose.yaml',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
    ]);
    const texts = readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    expect(texts.filter((text) => text.includes('{{'))).to.deep.equal([]);
    expect(manifest).to.include({ name: 'notes-api', private: true });
    expect(readFileSync(join(project, 'src/app.ts'), 'utf8')).to.include("title: 'notes-api'");
  });

  it('has the versions that this package is tested with, which npm has installed here without a conflict', async () => {
    const { version, dependencies, devDependencies } = await readManifest();
    const { 'crud-controllers': self, ...others } = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(self).to.equal(`^${version}`);
    expect({ ...devDependencies, ...dependencies }).to.include(others);
  });

  it('has the tarball from which this package was installed', async () => {
    const modules = join(folder.path, 'tool/node_modules');
    const packages = { 'node_modules/crud-controllers': { resolved: 'file:../parcels/crud.tgz' } };
    writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages }));
    const command = join(modules, 'crud-controllers/dist/src/command-line.js');
    await run(process.execPath, [command, 'init', 'apis/parcel-api'], folder.path);
    const { dependencies } = JSON.parse(
      readFileSync(join(folder.path, 'apis/parcel-api/package.json'), 'utf8'),
    );
    expect(dependencies['crud-controllers']).to.equal('file:../../parcels/crud.tgz');
  });

  describe('where it is installed', () => {
    let variables: NodeJS.ProcessEnv;

    before(async () => {
      await installProject(project, manifest);
      variables = { DATABASE_URL: database.url };
    });

    it('builds, and passes its own tests', async () => {
      const { output } = await run('npm', ['test'], project, variables);
      expect(output)
        .to.match(/^. pass 4$/m)
        .and.match(/^. fail 0$/m);
    });

    it('says what to do where there is no database', async () => {
      const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/notes' };
      expect(await tryRun('npm', ['run', '--silent', 'migrate'], project, nowhere)).to.deep.equal({
        code: 1,
        output: '',
        everything:
          'connect ECONNREFUSED 127.0.0.1:1\nStart the PostgreSQL of compose.yaml, or set DATABASE_URL.\n',
      });
    });

    it('makes its tables and serves requests, and warns of nothing', async () => {
      const served = await startProject(project, variables);
      const { url } = served;
      const { title } = (await (await fetch(url)).json()) as { title: string };
      expect(title).to.equal('notes-api');
      const created = await fetch(`${url}/notes`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ title: 'Milk' }),
      });
      expect([created.status, created.headers.get('Location')]).to.deep.equal([201, '/notes/1']);
      await created.arrayBuffer();
      await served[Symbol.asyncDispose]();
      expect(served.printed()).to.include('Migrated: 001-notes.js\n');
      expect(served.printed()).to.not.match(/"level":"(?:warn|error)"/);
    });

    it('describes itself by the command', async () => {
      const { name } = await readManifest();
      const command = join(project, 'node_modules', name, 'dist/src/command-line.js');
      const { output } = await run(process.execPath, [command, 'sql', './dist/src/main.js'], project);
      expect(output).to.include('CREATE INDEX ON "notes" ("stars", "id");');
    });
  });
});
