/**
 * Required before all else, it has a framework loaded as a later version may be: `CHANGED` says in which of its files what is
 * another text.
 */
import { readFileSync } from 'node:fs';
import Module from 'node:module';

/** A change to the files whose path holds `file`. */
export interface Change {
  readonly file: string;
  /** A regular expression. */
  readonly from: string;
  readonly to: string;
}

/** A module on its way in. */
interface LoadedModule {
  exports: unknown;
  _compile(source: string, name: string): unknown;
}

type Load = (module: LoadedModule, name: string) => void;

const { file, from, to }: Change = JSON.parse(process.env['CHANGED'] ?? '{}');
const { _extensions: loaders } = Module as object as { _extensions: Record<'.js' | '.json', Load> };

/** The changed text of a file; null for one that stays as it is. */
function changed(name: string): string | null {
  if (!name.includes(`node_modules/${file}`)) return null;
  return readFileSync(name, 'utf8').replace(new RegExp(from, 'g'), to);
}

const { '.js': loadScript, '.json': loadJson } = loaders;
loaders['.js'] = (module, name) => {
  const source = changed(name);
  if (source === null) loadScript(module, name);
  else module._compile(source, name);
};
loaders['.json'] = (module, name) => {
  const source = changed(name);
  if (source === null) loadJson(module, name);
  else module.exports = JSON.parse(source);
};
