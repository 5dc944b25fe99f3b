/** The imports and exports of a TypeScript module, read from text that Biome has formatted: each begins its line. */

/** One name of an import or export clause. `*` is a name, too. */
export interface BoundName {
  /** The name in the module that it comes from. */
  readonly source: string;
  /** The name here, or for those who import it from here. */
  readonly name: string;
  readonly isTypeOnly: boolean;
}

/** One use of another module. */
export interface ModuleReference {
  readonly kind: 'import' | 'export' | 'dynamic' | 'require';
  /** Null when it is computed. */
  readonly specifier: string | null;
  /** The compiler erases it. */
  readonly isTypeOnly: boolean;
  readonly names: readonly BoundName[];
  readonly line: number;
}

/** Strings, which stay; then comments and templates, which hold no code. */
const LITERAL =
  /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|\/\/[^\n]*|`(?:[^`\\]|\\[\s\S])*`/g;
const STATEMENT = /^ *(import|export) (type )?(?:([^;'"()=]*?) from )?'([^']+)'/;
const CALL = /(?<![.\w])(typeof )?(import|require)\((?:'([^']+)')?/;
const REFERENCE = new RegExp(`${STATEMENT.source}|${CALL.source}`, 'gm');

/** Finds every import, re-export, `import()` and `require()` of a source. */
export function scanModule(source: string): readonly ModuleReference[] {
  const code = source.replace(LITERAL, (text, string) => string ?? text.replace(/[^\n]/g, ' '));
  return [...code.matchAll(REFERENCE)].map((match) => {
    const [, statement, type, clause = '', module, typeOf, call, argument] = match;
    const names = boundNames(clause, type !== undefined);
    const isErased = names.length > 0 && names.every(({ isTypeOnly }) => isTypeOnly);
    return {
      kind: (statement ?? (call === 'import' ? 'dynamic' : 'require')) as ModuleReference['kind'],
      specifier: module ?? argument ?? null,
      isTypeOnly: type !== undefined || typeOf !== undefined || isErased,
      names,
      line: code.slice(0, match.index).split('\n').length,
    };
  });
}

/** The names of `a, { b as c, type d }` or `* as e`. */
function boundNames(clause: string, isTypeOnly: boolean): BoundName[] {
  return [...clause.matchAll(/(type )?([\w$*]+)(?: as ([\w$]+))?/g)].map(
    ([, type, source = '', name = source]) => ({
      source,
      name,
      isTypeOnly: isTypeOnly || type !== undefined,
    }),
  );
}
