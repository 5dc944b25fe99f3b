/** Lock files are complete: `npm ci` refuses one that lacks a package, also a package for another platform. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';

type Ranges = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies?: Ranges;
  readonly devDependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
  readonly peerDependencies?: Ranges;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The entries of a lock file by their folder; the folder of the project itself is ''. */
type Packages = Readonly<Record<string, Manifest & { readonly version?: string }>>;

for (const folder of [
  '.',
  'bench/peers',
  'sample/admin',
  'scripts/site',
  'test/mutation',
  'test/process/tracers/sentry',
]) {
  describe(`the lock file of ${folder}`, () => {
    const { packages } = readJson<{ packages: Packages }>(folder, 'package-lock.json');

    it('has an entry for every package that an entry asks for', () => {
      expect(missingPackages(packages).join('\n')).to.equal('');
    });

    it('asks for what package.json asks for', () => {
      expect(directRanges(packages[''])).to.deep.equal(directRanges(readJson(folder, 'package.json')));
    });
  });
}

describe('the search for missing packages', () => {
  it('names packages of every kind, and the entry that asks for them', () => {
    const packages = {
      '': { dependencies: { a: '1' }, devDependencies: { b: '1' } },
      'node_modules/a': {
        version: '1.0.0',
        optionalDependencies: { '@c/linux': '1', '@c/windows': '1' },
        peerDependencies: { d: '1', e: '1' },
        peerDependenciesMeta: { e: { optional: true } },
      },
      'node_modules/@c/linux': { version: '1.0.0' },
    };
    expect(missingPackages(packages)).to.deep.equal([
      'b, for package.json',
      '@c/windows, for node_modules/a',
      'd, for node_modules/a',
    ]);
  });
});

function missingPackages(packages: Packages): string[] {
  return Object.entries(packages).flatMap(([folder, entry]) =>
    neededNames(entry)
      .filter((name) => !places(folder, name).some((place) => packages[place]?.version))
      .map((name) => `${name}, for ${folder || 'package.json'}`),
  );
}

/** npm installs peers, too, unless they are optional. */
function neededNames(entry: Manifest): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = entry;
  const isNeeded = (peer: string) => !entry.peerDependenciesMeta?.[peer]?.optional;
  return [
    ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    ...Object.keys(peerDependencies ?? {}).filter(isNeeded),
  ];
}

/** Places of a package that a file in the folder can import. */
function places(folder: string, name: string): string[] {
  const names = folder.split('/');
  const outer = names.map((_, index) => `${names.slice(0, index + 1).join('/')}/node_modules/${name}`);
  return [`node_modules/${name}`, ...outer];
}

function directRanges(manifest: Manifest = {}) {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  return { dependencies, devDependencies, optionalDependencies, peerDependencies };
}

function readJson<T>(folder: string, file: string): T {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, folder, file), 'utf8'));
}
