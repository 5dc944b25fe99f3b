/** The names that `src/index.ts` exports, and where each is declared. */
import { posix } from 'node:path';
import { scanModule } from './scan-module.js';
import type { SourceTree } from './source-tree.js';

/** A public name. */
export interface PublicName {
  readonly name: string;
  /** An interface, a type, or a class of which only the type is public. */
  readonly isTypeOnly: boolean;
  /** The file that declares it. */
  readonly file: string;
}

/** Every name of `index.ts`, sorted. */
export function publicNames(sources: SourceTree): PublicName[] {
  return scanModule(sources.get('index.ts') ?? '')
    .filter(({ kind }) => kind === 'export')
    .flatMap(({ specifier, names }) => {
      const file = posix.normalize(specifier ?? '').replace(/\.js$/, '.ts');
      return names.map(({ name, isTypeOnly }) => ({ name, isTypeOnly, file }));
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
