/** Express's paths as OpenAPI writes them. */

/** A path, and the names of its parameters in their order. */
export interface DocumentPath {
  /** `/cities/{id}` */
  readonly template: string;
  readonly parameters: readonly string[];
}

/** A parameter of a path. */
export interface PathParameter {
  /** As the route has it. */
  readonly name: string;
  /** As the document has it, where another route has named the same place. */
  readonly shownAs: string;
}

const PARAMETER = /:([A-Za-z_]\w*)(?:\([^()/]*\))?/g;
/** Characters that OpenAPI cannot express: optional parts, wildcards, and the rest of a regular expression. */
const INEXPRESSIBLE = /[*+?(){}[\]\\:]/;

/** The path, or undefined for one that OpenAPI cannot say, such as a regular expression. */
export function documentPath(path: string | RegExp): DocumentPath | undefined {
  if (typeof path !== 'string') return undefined;
  if (INEXPRESSIBLE.test(path.replace(PARAMETER, ''))) return undefined;
  return {
    template: path.replace(PARAMETER, '{$1}').replace(/(.)\/$/, '$1'),
    parameters: [...path.matchAll(PARAMETER)].map(([, name = '']) => name),
  };
}

/** The path without the names of its parameters: a document has each only once. */
export function templateShape(template: string): string {
  return template.replace(/\{[^}]*\}/g, '{}');
}

/** The parameters of a path that the document writes as `template`. */
export function shownParameters({ parameters }: DocumentPath, template: string): readonly PathParameter[] {
  const shown = [...template.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
  return parameters.map((name, index) => ({ name, shownAs: shown[index] ?? name }));
}
