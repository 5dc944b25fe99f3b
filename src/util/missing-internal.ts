/** What a framework does not promise to have, and this package reads all the same. */

/** A field of a framework's is not where it was. Read as "there is none", it would hide a hook or a scope of the user's. */
export class MissingInternalError extends Error {}

/** Throws for a field of a framework's that is not there. */
export function missingFrom(framework: string, version: string): (field: string) => never {
  return (field) => {
    throw new MissingInternalError(
      `${framework} ${version} has no ${field}, which crud-controllers reads; use a version that it is tested with.`,
    );
  };
}

/** The value, after a look at each of its fields, whose names are words of a text. */
export function withFields<T extends object>(
  value: T,
  name: string,
  fields: string,
  missing: (field: string) => never,
): T {
  for (const field of fields.split(' ')) if (!(field in value)) missing(`${name}.${field}`);
  return value;
}
