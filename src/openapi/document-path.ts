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

/** What OpenAPI has no words for: optional parts, wildcards, and what is left of a regular expression. */
const INEXPRESSIBLE = /[*+?(){}[\]\\:]/;

/** The path, or undefined for one that OpenAPI cannot say, such as a regular expression. */
export function documentPath(path: string | RegExp): DocumentPath | undefined {
  if (typeof path !== 'string') return undefined;
  const parameters: string[] = [];
  const segments = path.split('/').map((segment) =>
    segment.replace(/:([A-Za-z_]\w*)(?:\([^()]*\))?/g, (_match, name: string) => {
      parameters.push(name);
      return `\0${parameters.length - 1}\0`;
    }),
  );
  const plain = segments.join('/').replace(/(.)\/$/, '$1');
  if (INEXPRESSIBLE.test(plain)) return undefined;
  return {
    template: plain.replace(/\0(\d+)\0/g, (_match, index) => `{${parameters[Number(index)]}}`),
    parameters,
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
