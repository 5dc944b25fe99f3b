/** Names of classes that a minifier made: routes, tables and schemas would have them. */
import { getOptions } from 'sequelize-typescript';
import type { Class, ModelClass } from '../declare/crud-options.js';
import { ConfigError } from '../util/config-error.js';

/** True where a minifier has renamed the classes of this package, and so those of its bundle. */
const IS_RENAMED = ConfigError.name !== 'ConfigError';
/** A bundle has fewer classes than names of four letters. */
const LONGEST = 3;
/** No compiler writes a class without a blank before its body. */
const MINIFIED = /^class\b[^{]*\S\{/;

const KEEP =
  'keep the names (--keep-names of esbuild and Bun, keepNames of rolldown, keep_classnames of terser)';

/**
 * Problems of short names in a bundle whose names are a minifier's. Where this package is outside of the bundle, its own names say nothing,
 * and the text of a class is likely evidence only: a warning.
 */
export function minifiedNames(
  models: readonly ModelClass[],
  others: readonly Class[],
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const named = models.filter(
    (model) => isShort(model) && getOptions(model.prototype)?.modelName !== model.name,
  );
  const lines = (classes: readonly Class[], kind: string, mend: string): string[] =>
    classes.map(({ name }) => `The name of the ${kind} '${name}' is one that a minifier makes, and ${mend}`);
  const ofModels = (classes: readonly ModelClass[]) =>
    lines(
      classes as unknown as Class[],
      'model',
      `routes, schemas and the table are named after it; ${KEEP}, or write @Table({ modelName: 'Task' }).`,
    );
  if (!IS_RENAMED)
    return { problems: [], warnings: ofModels(named.filter((model) => MINIFIED.test(String(model)))) };
  return {
    problems: [
      ...ofModels(named),
      ...lines(others.filter(isShort), 'class', `the document is named after it; ${KEEP}.`),
    ],
    warnings: [],
  };
}

function isShort({ name }: { readonly name: string }): boolean {
  return name.length <= LONGEST;
}
