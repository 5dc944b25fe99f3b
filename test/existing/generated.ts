/** Models that the generator has written: compiled as those of a user, loaded, and described by their classes alone. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ModelCtor } from 'sequelize-typescript';
import { keyRelationsOf } from '../../src/declare/key-relations.js';
import type { CrudOptions, ModelClass } from '../../src/index.js';
import { type ModelsOptions, type ModelsReport, writeModels } from '../../src/scaffold/model-files.js';
import type { LeftOut } from '../../src/scaffold/model-plan.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import type { Column, Relation } from './tables.js';

/** A relation of a model. */
export interface Link {
  readonly name: string;
  readonly isOne: boolean;
  readonly target: Specimen;
  /** Columns of the model, and of the target or of the join table, pair by pair. */
  readonly own: readonly string[];
  readonly other: readonly string[];
  /** The join table, and the column there that refers to a column of the target. */
  readonly through?: { readonly sql: string; readonly to: string; readonly key: string };
}

/** A table with its model. */
export interface Specimen {
  readonly table: Relation;
  readonly name: string;
  readonly model: ModelCtor;
  /** The columns that address a row. */
  readonly id: readonly string[];
  readonly attributes: ReadonlyMap<string, string>;
  readonly links: Link[];
  /** The path of its list, once it is served. */
  prefix: string;
  /** Columns that no answer has, once it is served. */
  hidden: ReadonlySet<string>;
}

/** Options of `@Crud` in the place of those that were generated. */
export type Choice = (model: ModelCtor, generated: CrudOptions) => CrudOptions;

/** The files of a database. */
export interface Generated extends AsyncDisposable {
  readonly leftOut: readonly LeftOut[];
  readonly hints: readonly string[];
  /** Errors of the compiler, and files that a second run has changed. */
  readonly problems: readonly string[];
  /** Classes anew, and names of those with `@Crud`. */
  load(choice: Choice): { readonly models: ModelClass[]; readonly served: ReadonlySet<string> };
}

/** Sends each `@Crud` through a choice of the driver. */
const CRUD = `
const real = require('crud-controllers');
module.exports = { ...real, choice: null };
module.exports.Crud = (options) => (model) => real.Crud(module.exports.choice(model, options))(model);
`;

/** Writes the files twice, and compiles them under \`strict\` with the settings of a new project. */
export async function generate(url: string, wanted: Tree): Promise<Generated> {
  // Below the package, so that its name and those of its peers are found.
  const folder = join(PACKAGE_ROOT, 'dist/generated', randomBytes(6).toString('hex'));
  const [source, compiled] = [join(folder, 'src'), join(folder, 'js')];
  mkdirSync(folder, { recursive: true });
  const options = { url, out: source, writable: true, names: join(folder, 'names.json') };
  const { leftOut, hints } = await writeNamed(options, wanted);
  const before = stateOf(folder);
  await writeModels(options);
  const after = stateOf(folder);
  const files = [...new Set([...before.keys(), ...after.keys()])];
  const problems = files
    .filter((file) => before.get(file) !== after.get(file))
    .map((file) => `${file}: a second run has changed it`);
  const settings = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'template/notes/tsconfig.json'), 'utf8'));
  Object.assign(settings.compilerOptions, { rootDir: 'src', outDir: 'js' });
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, include: ['src'] }));
  problems.push(...(await compile(folder)));
  if (problems.length === 0) chooseCrud(compiled);
  return {
    leftOut,
    hints,
    problems,
    load(choice) {
      const served = new Set<string>();
      for (const path of Object.keys(require.cache))
        if (path.startsWith(compiled) && !path.endsWith('crud.cjs')) delete require.cache[path];
      require(join(compiled, 'crud.cjs')).choice = (model: ModelCtor, options: CrudOptions) => {
        served.add(model.name);
        return choice(model, options);
      };
      return { models: require(join(compiled, 'index.js')).models, served };
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}

/** Bytes and times of files. */
function stateOf(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const known = files.map((file) => [file, statSync(file)] as const).filter(([, state]) => state.isFile());
  return new Map(known.map(([file, { mtimeMs }]) => [file, `${mtimeMs} ${readFileSync(file, 'hex')}`]));
}

/** Takes the names that a refusal proposes. */
async function writeNamed(
  options: ModelsOptions & { readonly names: string },
  names: Tree,
  tries = 3,
): Promise<ModelsReport> {
  writeFileSync(options.names, JSON.stringify(names));
  try {
    return await writeModels(options);
  } catch (error) {
    const [, proposed] = /into a file that --names names:\n(\{.*\n\})/s.exec((error as Error).message) ?? [];
    if (proposed === undefined || tries === 0) throw error;
    return writeNamed(options, merged(names, JSON.parse(proposed)), tries - 1);
  }
}

/** A file of names. */
export type Tree = { readonly [name: string]: Tree | string | readonly string[] };

function isTree(value: Tree[string] | undefined): value is Tree {
  return typeof value === 'object' && !Array.isArray(value);
}

function merged(one: Tree, other: Tree): Tree {
  const own = Object.entries(other).map(([name, value]) => {
    const known = one[name];
    return [name, isTree(known) && isTree(value) ? merged(known, value) : value];
  });
  return { ...one, ...Object.fromEntries(own) };
}

async function compile(folder: string): Promise<string[]> {
  const program = join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc');
  try {
    await promisify(execFile)(process.execPath, [program, '-p', folder], { maxBuffer: 1e8 });
    return [];
  } catch (error) {
    const { stdout = '', message } = error as { readonly stdout?: string; readonly message: string };
    return (stdout || message).split('\n').filter((line) => line !== '');
  }
}

function chooseCrud(folder: string): void {
  writeFileSync(join(folder, 'crud.cjs'), CRUD);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replace('require("crud-controllers")', 'require("./crud.cjs")'));
  }
}

/** A relation as Sequelize describes it. */
interface Association {
  readonly associationType: string;
  readonly isSingleAssociation: boolean;
  readonly target: ModelCtor;
  readonly foreignKey: string;
  readonly otherKey?: string;
  readonly sourceKey?: string;
  readonly targetKey?: string;
  readonly through?: { readonly model: ModelCtor };
}

/** The models, with their tables and relations. Sequelize must know the classes. */
export function specimensOf(models: readonly ModelClass[], relations: readonly Relation[]): Specimen[] {
  // The classes are those of sequelize-typescript.
  const specimens = (models as unknown as ModelCtor[]).flatMap((model) => {
    const { schema, tableName } = model.getTableName() as unknown as { schema: string; tableName: string };
    const table = relations.find((each) => each.schema === schema && each.name === tableName);
    if (!table) return [];
    const all = Object.entries(model.getAttributes());
    const attributes = new Map(all.map(([name, { field = name }]) => [field, name]));
    const keys = all.filter(([, { primaryKey }]) => primaryKey).map(([name, { field = name }]) => field);
    // In the order of the index.
    const id = [table.key, ...table.uniques].find((key) => hasAll(key, keys)) ?? keys;
    const links: Link[] = [];
    return { table, name: model.name, model, id, attributes, links, prefix: '', hidden: new Set<string>() };
  });
  for (const specimen of specimens) {
    const associations = specimen.model.associations as unknown as Readonly<Record<string, Association>>;
    for (const [name, association] of Object.entries(associations)) {
      const target = specimens.find(({ model }) => model === association.target);
      if (target) specimen.links.push({ name, target, ...pairOf(specimen.model, association) });
    }
    for (const { name, isOne, target, keys } of keyRelationsOf(specimen.model as unknown as ModelClass)) {
      const other = specimens.find(({ model }) => (model as unknown) === target());
      if (!other) continue;
      const columns = (model: ModelCtor, attributes: string[]) =>
        attributes.map((each) => columnOf(model, each));
      specimen.links.push({
        name,
        isOne,
        target: other,
        own: columns(specimen.model, Object.keys(keys)),
        other: columns(other.model, Object.values(keys)),
      });
    }
  }
  return specimens;
}

function hasAll(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

function pairOf(model: ModelCtor, association: Association): Omit<Link, 'name' | 'target'> {
  const { associationType, isSingleAssociation: isOne, target, foreignKey } = association;
  const { sourceKey = '', targetKey = '', otherKey = '', through } = association;
  if (associationType === 'BelongsTo')
    return { isOne, own: [columnOf(model, foreignKey)], other: [columnOf(target, targetKey)] };
  const own = [columnOf(model, sourceKey)];
  if (!through) return { isOne, own, other: [columnOf(target, foreignKey)] };
  const { schema, tableName } = through.model.getTableName() as unknown as {
    schema: string;
    tableName: string;
  };
  return {
    isOne,
    own,
    other: [columnOf(through.model, foreignKey)],
    through: {
      sql: `"${schema}"."${tableName}"`,
      to: columnOf(through.model, otherKey),
      key: columnOf(target, targetKey),
    },
  };
}

function columnOf(model: ModelCtor, attribute: string): string {
  return model.getAttributes()[attribute]?.field ?? attribute;
}

const SECRET = /passw(or)?d|secret|token|hash|salt|(api|private)_?key/i;
const PERHAPS_SECRET = /pass|key|crypt|pin|cvv|ssn|signature|credential|otp|nonce|digest/i;

/** Secrets that are shown, and columns that are hidden without a reason. */
export function wronglyShown({ table, attributes, hidden }: Specimen): string[] {
  const isText = ({ base }: Column) => /^(char|text|citext|bytea|uuid)/.test(base);
  return table.columns
    .filter(({ name }) => attributes.has(name))
    .filter((column) => hidden.has(column.name) !== (SECRET.test(column.name) && isText(column)))
    .filter(
      ({ name, base }) =>
        !hidden.has(name) || !(PERHAPS_SECRET.test(name) || /^ts(vector|query)$/.test(base)),
    )
    .map(({ name }) => `${table.sql}: its column ${name} is ${hidden.has(name) ? 'hidden' : 'shown'}`);
}
