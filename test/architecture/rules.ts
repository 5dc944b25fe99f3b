/** The rules of the architecture: the allowed imports of each file. Each rule returns one line per violation. */
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { type ModuleReference, scanModule } from './scan-module.js';
import type { SourceTree } from './source-tree.js';

/** Imports and exports of every file, by its path in `src`. */
export type ModuleTree = ReadonlyMap<string, readonly ModuleReference[]>;

/** The folders of `src`, in the order of the phases: each may import those before it. Folders nest one level at most. A file before or behind its folder has a line of its own. */
export const LAYERS = [
  'util',
  'diagnostics',
  'declare',
  'describe',
  'compile',
  'schema',
  'request/query',
  'features/soft-delete/deletion.ts',
  'operation',
  'errors',
  'postgres/protocol',
  'postgres/session',
  'postgres/connections',
  'postgres/engine',
  'postgres',
  'execute/sql',
  'execute/customization',
  'inspect',
  'features/soft-delete',
  'features/search',
  'features',
  'features/include',
  'features/row-features.ts',
  'access',
  'execute',
  'execute/rows',
  'execute/session',
  'respond/wire-format.ts',
  'features/aggregate',
  'features/capture/scope-columns.ts',
  'features/capture/image-sql.ts',
  'features/capture/change-table.ts',
  'features/capture/erase-history.ts',
  'execute/records',
  'request',
  'respond',
  'express/resources',
  'handle',
  'features/include/embed.ts',
  'features/replace',
  'features/idempotency',
  'features/capture',
  'features/preference',
  'features/sent-back',
  'features/increment',
  'express/connection',
  'express/routes',
  'express/server',
  'health',
  'openapi',
  'features/sub-resources',
  'features/changes',
  'features/bulk',
  'features/upsert',
  'features/nested',
  'features/history',
  'features/aggregate/handle-aggregate.ts',
  'features/aggregate/describe-aggregate.ts',
  'features/aggregate/aggregate.ts',
  'features/links',
  'features/export',
  'features/import',
  'features/features.ts',
  'express/routes/crud-router.ts',
  'landing',
  'observe',
  'scaffold',
  'transfer',
] as const;

/** Files in a folder, and lines in a file. */
const MAX_FILES = 24;
const MAX_LINES = 400;

/** The files that put the phases together; each may import those before it, and every folder. */
const ROOT_FILES = [
  'engine-lifespan.ts',
  'opentelemetry.ts',
  'bootstrap.ts',
  'load-application.ts',
  'command-line.ts',
  'index.ts',
];
/** The only file that imports modules of its user. */
const LOADER = 'load-application.ts';

const PURE_LAYERS = [
  'util',
  'declare',
  'describe',
  'compile',
  'schema',
  'request/query',
  'operation',
  'features',
];
/** The modules of Node that do no input or output. */
const PURE_BUILTINS = ['assert', 'buffer', 'crypto', 'querystring', 'string_decoder', 'url', 'util', 'v8'];

/** A framework, and who may use more of it than its types. */
interface Confinement {
  readonly packages: readonly string[];
  readonly allowed: readonly string[];
  /** A folder of which one file is allowed as well. */
  readonly oneFileOf?: string;
}

const CONFINEMENTS: readonly Confinement[] = [
  {
    packages: ['routing-controllers'],
    allowed: ['express/', 'handle/', 'request/', 'respond/', 'bootstrap.ts'],
  },
  { packages: ['class-validator', 'class-transformer'], allowed: ['schema/'], oneFileOf: 'respond/' },
  {
    packages: ['sequelize', 'sequelize-typescript', 'pg'],
    allowed: ['describe/', 'errors/', 'execute/', 'postgres/', 'inspect/', 'scaffold/', 'engine-lifespan.ts'],
  },
  { packages: ['@clickhouse/client', 'ioredis'], allowed: ['postgres/'] },
  { packages: ['express'], allowed: ['express/', 'respond/', 'health/', 'observe/', 'openapi/', 'landing/'] },
];

/** Scans every file. */
export function scanModules(sources: SourceTree): ModuleTree {
  return new Map([...sources].map(([file, source]) => [file, scanModule(source)]));
}

/** Beside the compiled files: a script writes it. */
const PACKED = '../../swagger-ui/assets.js';

/** Imports against the direction, of `index.ts`, and of files that are not there; types count as well. */
export function findWrongDirections(modules: ModuleTree): string[] {
  return [...modules].flatMap(([file, references]) => {
    const own = layerOf(file);
    if (own < 0) return [`${file} belongs to no layer: ${[...LAYERS, ...ROOT_FILES].join(', ')}.`];
    return references.flatMap((reference) => {
      const target = targetOf(file, reference, modules);
      if (target === null || reference.specifier === PACKED) return [];
      if (target === 'index.ts') return [violation(file, reference, 'nothing inside imports index.ts')];
      if (!modules.has(target)) return [violation(file, reference, 'there is no such file in src')];
      if (layerOf(target) <= own) return [];
      return [violation(file, reference, `${layerName(target)} comes after ${layerName(file)}`)];
    });
  });
}

/** Rooms that the rest of `src` enters by their `index.ts` only. */
const ROOMS = ['postgres/'];

/** Imports that pass a door by. The files that compose may. */
export function findPastDoors(modules: ModuleTree): string[] {
  return [...modules].flatMap(([file, references]) =>
    references.flatMap((reference) => {
      if (ROOT_FILES.includes(file)) return [];
      const target = targetOf(file, reference, modules);
      const room = ROOMS.find((each) => target?.startsWith(each) && !file.startsWith(each));
      if (!room || target === `${room}index.ts`) return [];
      return [violation(file, reference, `import it from ${room}index.ts`)];
    }),
  );
}

/** Imports in a circle, those of types as well. Each circle is named once. */
export function findCycles(modules: ModuleTree): string[] {
  const cycles = new Map<string, string>();
  const finished = new Set<string>();

  function visit(file: string, path: readonly string[]): void {
    const start = path.indexOf(file);
    if (start >= 0) {
      const cycle = path.slice(start);
      cycles.set([...cycle].sort().join(), `${[...cycle, file].join(' -> ')} is a cycle.`);
      return;
    }
    if (finished.has(file)) return;
    for (const reference of modules.get(file) ?? []) {
      const target = targetOf(file, reference, modules);
      if (target !== null) visit(target, [...path, file]);
    }
    finished.add(file);
  }

  for (const file of modules.keys()) visit(file, []);
  return [...cycles.values()];
}

/** Folders with more files, and files with more lines, than a reader can survey. */
export function findOversized(sources: SourceTree): string[] {
  const folders = new Map<string, number>();
  for (const file of sources.keys()) {
    const folder = posix.dirname(file);
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  return [
    ...[...folders]
      .filter(([, files]) => files > MAX_FILES)
      .map(([folder, files]) => `${folder}/ has ${files} files; ${MAX_FILES} is the limit.`),
    ...[...sources]
      .map(([file, source]) => ({ file, lines: source.split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES)
      .map(({ file, lines }) => `${file} has ${lines} lines; ${MAX_LINES} is the limit.`),
  ];
}

/** Frameworks used outside the folders that know them. Their types may be used anywhere. */
export function findLooseFrameworks(modules: ModuleTree): string[] {
  return CONFINEMENTS.flatMap(({ packages, allowed, oneFileOf }) => {
    const uses = valueImports(modules).filter(({ reference }) => packages.includes(packageOf(reference)));
    const exceptions = [
      ...new Set(uses.map(({ file }) => file).filter((file) => oneFileOf && file.startsWith(oneFileOf))),
    ];
    const places = [...allowed, ...(oneFileOf ? [`one file of ${oneFileOf}`] : [])].join(', ');
    return uses.flatMap(({ file, reference }) => {
      if (allowed.some((place) => file.startsWith(place))) return [];
      if (exceptions.length === 1 && exceptions[0] === file) return [];
      const others = exceptions.filter((other) => other !== file);
      const also = others.length > 0 && exceptions.includes(file) ? `, and ${others.join(', ')} does` : '';
      return [violation(file, reference, `only ${places} may use it${also}`)];
    });
  });
}

/** The files that may read internals of a framework. */
const ACCESSORS = /-internals\.ts$/;
/** A field that begins with `_` in a type, and a cast to a type that is made up on the spot. */
const INTERNAL_FIELD = /^\s*(?:readonly )?_\w+\??[:(].*;$|\bas (?:unknown as |object as )?\{[^}]*\b_\w+\??:/;
const LOOSE_CAST = /\bas (?:unknown|object) as \{/;

/** Internals of frameworks that are read outside of the files that check if they are there. */
export function findLooseInternals(sources: SourceTree): string[] {
  return [...sources].flatMap(([file, source]) => {
    if (ACCESSORS.test(file) || file.endsWith('.d.ts')) return [];
    const references = scanModule(source);
    const lines = source.split('\n').flatMap((text, index) => {
      if (INTERNAL_FIELD.test(text))
        return [`${file}:${index + 1} declares a field of a framework's internals.`];
      return LOOSE_CAST.test(text) ? [`${file}:${index + 1} casts to what nothing checks.`] : [];
    });
    const storages = references.filter(
      (reference) =>
        reference.specifier?.startsWith('class-transformer/') ||
        reference.names.some(({ source: name }) => name === 'getMetadataArgsStorage'),
    );
    return [
      ...lines,
      ...storages.map((reference) => violation(file, reference, 'only *-internals.ts touches a storage')),
    ];
  });
}

/** Input and output in the phases that are pure. */
export function findInputAndOutput(modules: ModuleTree): string[] {
  return valueImports(modules).flatMap(({ file, reference }) => {
    const name = packageOf(reference).replace(/^node:/, '');
    if (!PURE_LAYERS.some((layer) => file.startsWith(`${layer}/`))) return [];
    if (!builtinModules.includes(name) || PURE_BUILTINS.includes(name)) return [];
    return [violation(file, reference, `${layerName(file)} does no input or output`)];
  });
}

/** `export *`, and imports whose target is not in the text. Biome finds default exports. */
export function findUnnamedExports(modules: ModuleTree): string[] {
  return [...modules].flatMap(([file, references]) => [
    ...references
      .filter(({ kind, names }) => kind === 'export' && names.some(({ source }) => source === '*'))
      .map((reference) => violation(file, reference, 'export * hides what is exported; name it')),
    ...references
      .filter(({ specifier }) => specifier === null && file !== LOADER)
      .map((reference) => violation(file, reference, 'a computed import cannot be checked')),
  ]);
}

/** Packages that an installation need not have. The types of a package may come with `@types`. */
export function findUndeclaredPackages(modules: ModuleTree, declared: ReadonlySet<string>): string[] {
  return [...modules].flatMap(([file, references]) =>
    references.flatMap((reference) => {
      const name = packageOf(reference);
      const isBuiltin = name.startsWith('node:') || builtinModules.includes(name);
      if (name === '' || isBuiltin || declared.has(name)) return [];
      if (reference.isTypeOnly && declared.has(`@types/${name}`)) return [];
      return [
        violation(file, reference, 'package.json has it neither in dependencies nor in peerDependencies'),
      ];
    }),
  );
}

function valueImports(modules: ModuleTree): { file: string; reference: ModuleReference }[] {
  return [...modules].flatMap(([file, references]) =>
    references.filter(({ isTypeOnly }) => !isTypeOnly).map((reference) => ({ file, reference })),
  );
}

/** The file of this package that is imported, or null for another package. */
function targetOf(file: string, { specifier }: ModuleReference, modules: ModuleTree): string | null {
  if (specifier === 'crud-controllers') return 'index.ts';
  if (!specifier?.startsWith('.')) return null;
  const path = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '');
  return [`${path}.ts`, `${path}.d.ts`].find((candidate) => modules.has(candidate)) ?? `${path}.ts`;
}

/** `@scope/name` of `@scope/name/a/b.js`; empty for a file of this package. */
function packageOf({ specifier }: ModuleReference): string {
  if (specifier === null || specifier.startsWith('.')) return '';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function layerOf(file: string): number {
  const layers: readonly string[] = LAYERS;
  const layer = layers.indexOf(layers.includes(file) ? file : posix.dirname(file));
  const root = ROOT_FILES.indexOf(file);
  return root < 0 ? layer : LAYERS.length + root;
}

function layerName(file: string): string {
  return file.includes('/') ? `${posix.dirname(file)}/` : file;
}

function violation(file: string, { specifier, line }: ModuleReference, reason: string): string {
  const target = specifier === null ? 'a computed path' : `'${specifier}'`;
  return `${file}:${line} imports ${target}: ${reason}.`;
}

/** Openings without a subject. */
const VAGUE = /^\s*(?:\/\*\*|\*|\/\/)\s+(What|Whether|Who|Those|One of|How|Which)\b/;

/** Verbs of people. The field has others: return, evaluate, read, log, identify, check. */
const OF_PEOPLE = /^\s*(?:\/\*\*|\*|\/\/)\s.*\b(asks|gives|knows|looks|stands|tells)\b/i;

/** Comments that do not begin with their subject, or whose verb is none of the field. */
export function findVagueComments(sources: SourceTree): string[] {
  return [...sources].flatMap(([file, source]) =>
    source.split('\n').flatMap((line, index) => {
      const place = `${file}:${index + 1}`;
      const [, opening] = VAGUE.exec(line) ?? [];
      const [, verb] = OF_PEOPLE.exec(line) ?? [];
      return [
        ...(opening ? [`${place} begins with '${opening}'; name the subject.`] : []),
        ...(verb ? [`${place} says '${verb}'; use a verb of the field.`] : []),
      ];
    }),
  );
}
