/** `crud-controllers init`: a folder -> a small, complete project in it, made of the files in `template/`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { throwProblems } from '../util/config-error.js';
import { modelsScript, type ProjectDatabase, writeAddress, writeProjectModels } from './project-database.js';

const PACKAGE = join(__dirname, '../../..');
/** A project with a model, its migration and its test. */
const NOTES = join(PACKAGE, 'template/notes');
/** Files of a project with the models of a database, in the place of those of the notes or beside them. */
const DATABASE = join(PACKAGE, 'template/database');
/** Files of the notes that a database with tables of its own has no use for. */
const OF_NOTES_ALONE = /^(?:compose\.yaml$|test\/|src\/(?:migrat|note))/;
/** The command writes the models, and the file in the template is there for the compiler. */
const MODELS = /^src\/models\//;
/** npm leaves some names out of its packages, and reads others as its own. */
const REAL_NAMES: Readonly<Record<string, string>> = {
  '_package.json': 'package.json',
  _gitignore: '.gitignore',
  _dockerignore: '.dockerignore',
};
/** Placeholder of the name of the project. */
const NAME = '{{name}}';

type Texts = Readonly<Record<string, string>>;

/** Fields that are read of the package.json of this package, and of that of the template. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Texts;
  readonly engines?: Texts;
  readonly dependencies: Texts;
  readonly devDependencies: Texts;
  readonly peerDependencies?: Texts;
}

/**
 * Writes the project, named after its folder. With a database, its tables are read before anything is written.
 *
 * @returns a report on the models, and the next steps
 * @throws ConfigError when the folder is not empty, its name cannot be that of a package, or the database cannot be read
 */
export async function initProject(folder: string, database?: ProjectDatabase): Promise<string> {
  const target = resolve(folder);
  const name = basename(target);
  const template = readManifest(join(NOTES, '_package.json'));
  const manifest = completeManifest(database ? withoutTables(template, database) : template, target);
  throwProblems([...folderProblems(target, folder), ...nameProblems(name, manifest)]);
  const report = database ? await writeProjectModels(database, folder) : '';
  for (const [file, source] of templateFiles(database !== undefined)) {
    const text = file === '_package.json' ? JSON.stringify(manifest, null, 2) : readFileSync(source, 'utf8');
    const path = join(target, REAL_NAMES[file] ?? file);
    mkdirSync(dirname(path), { recursive: true });
    // Never over a file that has come there meanwhile.
    writeFileSync(path, `${text.trimEnd().replaceAll(NAME, name)}\n`, { flag: 'wx' });
  }
  // Behind the .gitignore that names it.
  if (database) writeAddress(database, target);
  return `${report}${nextSteps(name, relative(process.cwd(), target), database !== undefined)}`;
}

/** Their sources, by their paths in the project. */
function templateFiles(isOfDatabase: boolean): ReadonlyMap<string, string> {
  if (!isOfDatabase) return filesIn(NOTES);
  const shared = [...filesIn(NOTES)].filter(([file]) => !OF_NOTES_ALONE.test(file));
  const own = [...filesIn(DATABASE)].filter(([file]) => !MODELS.test(file));
  return new Map([...shared, ...own]);
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((path) => [relative(folder, path).replaceAll(sep, '/'), path]));
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Tables are there: the project has the models of a database in the place of migrations. */
function withoutTables(manifest: Manifest, database: ProjectDatabase): Manifest {
  const { migrate: _, prestart: __, build = '', ...scripts } = manifest.scripts;
  const { umzug: ___, ...dependencies } = manifest.dependencies;
  return { ...manifest, scripts: { models: modelsScript(database), build, ...scripts }, dependencies };
}

/** Sets each package to the version that this one is tested with: it is in the range of the peers, and all fit together. */
function completeManifest(template: Manifest, target: string): Manifest {
  const { name, version, engines = {}, ...own } = readManifest(join(PACKAGE, 'package.json'));
  const known = {
    ...own.peerDependencies,
    ...own.devDependencies,
    ...own.dependencies,
    [name]: installedFile(name, target) ?? `^${version}`,
  };
  const withVersions = (names: Texts): Texts =>
    Object.fromEntries(Object.keys(names).map((each) => [each, known[each] ?? '*']));
  return {
    ...template,
    engines,
    dependencies: withVersions(template.dependencies),
    devDependencies: withVersions(template.devDependencies),
  };
}

/** The tarball that npm has installed this package from, for the package.json of the project; undefined where it was a registry. */
function installedFile(name: string, target: string): string | undefined {
  const lock = join(PACKAGE, '../.package-lock.json');
  if (!existsSync(lock)) return undefined;
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8'));
  const [, file] = /^file:(.+)$/.exec(packages[`node_modules/${name}`]?.resolved) ?? [];
  return file && `file:${relative(target, resolve(PACKAGE, '../..', file)).replaceAll(sep, '/')}`;
}

/** A new repository is as good as empty. */
const IGNORED = new Set(['.git']);

function folderProblems(target: string, folder: string): string[] {
  if (!existsSync(target)) return [];
  if (!statSync(target).isDirectory()) return [`'${folder}' is a file; name a new folder, or an empty one.`];
  const [first] = readdirSync(target).filter((name) => !IGNORED.has(name));
  return first === undefined
    ? []
    : [`The folder '${folder}' is not empty: it has '${first}'; name a new folder, or an empty one.`];
}

/** Names that npm accepts for new packages. https://docs.npmjs.com/cli/configuring-npm/package-json#name */
const PACKAGE_NAME = /^(?!node_modules$|favicon\.ico$)[a-z0-9][a-z0-9._-]{0,213}$/;

function nameProblems(name: string, { dependencies, devDependencies }: Manifest): string[] {
  if (name in { ...dependencies, ...devDependencies })
    return [
      `The project would be called '${name}', as a package that it needs; give the folder another name.`,
    ];
  if (PACKAGE_NAME.test(name)) return [];
  const similar = name
    .toLowerCase()
    // Ä is an A with a mark, which is left out.
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 100);
  return [
    `The project would be called '${name}', which npm does not take for a package; give the folder a name of small ` +
      `letters, digits, '-', '.' and '_', such as '${PACKAGE_NAME.test(similar) ? similar : 'my-api'}'.`,
  ];
}

function nextSteps(name: string, path: string, hasDatabase: boolean): string {
  const steps = [
    ...(hasDatabase
      ? []
      : [['docker compose up --detach --wait', 'a PostgreSQL; or set DATABASE_URL to the address of yours']]),
    ['npm install', ''],
    ['npm run build', ''],
    ['npm start', 'http://localhost:3000'],
    ['npm test', ''],
  ].map(([command = '', note]) => (note ? `${command.padEnd(35)} # ${note}` : command));
  const enter = path === '' ? [] : [`cd ${/\s/.test(path) ? JSON.stringify(path) : path}`];
  return `The project ${name} is written. Next:\n\n${[...enter, ...steps].map((step) => `  ${step}\n`).join('')}`;
}
