/** Names of classes that a minifier made: routes, tables and schemas would have them. */
import { getModelName, getOptions } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { ConfigError } from '../util/config-error.js';

/** True where a minifier has renamed the classes of this package, and so those of its bundle. */
export const IS_RENAMED: boolean = ConfigError.name !== 'ConfigError';
/** A bundle has fewer classes than names of four letters. */
const LONGEST = 3;
/** No compiler writes a class without a blank before its body. */
const MINIFIED = /^class\b[^{]*\S\{/;

const KEEP =
  'keep the names (--keep-names of esbuild and rolldown, keep_classnames of terser, --minify-syntax --minify-whitespace of Bun in the ' +
  'place of --minify)';

/**
 * Lines about models whose short names are a minifier's: problems in a bundle with this package. Where the package is outside of it, the
 * text of a class is no proof, and a class without `@Table` may be named by `init`: these are warnings.
 */
export function minifiedModels(models: readonly ModelClass[]): {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const short = models.filter(
    ({ name, prototype }) => name.length <= LONGEST && !getOptions(prototype)?.modelName,
  );
  const isCertain = ({ prototype }: ModelClass): boolean =>
    IS_RENAMED && getModelName(prototype) !== undefined;
  const isLikely = (model: ModelClass): boolean => !isCertain(model) && MINIFIED.test(String(model));
  return { problems: short.filter(isCertain).map(lineOf), warnings: short.filter(isLikely).map(lineOf) };
}

function lineOf({ name }: ModelClass): string {
  return (
    `The name of the model '${name}' is one that a minifier makes, and routes, schemas and the table are named after it; ${KEEP}, or write ` +
    "@Table({ modelName: 'Task' })."
  );
}

/** @throws ConfigError for another class with such a name, in a bundle with this package: a part of the document is named after it */
export function refuseMinified({ name }: { readonly name: string }): void {
  if (!IS_RENAMED || name.length > LONGEST) return;
  throw new ConfigError([
    `The name of the class '${name}' is one that a minifier makes, and the document has it; ${KEEP}, or write static name = 'Task' in ` +
      'the class, or docs: false in bootstrap.',
  ]);
}
