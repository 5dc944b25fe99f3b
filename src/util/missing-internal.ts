/** Refuses frameworks without a field that this package reads, and that they do not promise to have. */

/** Throws for a field of a framework's that is not there. Read as "there is none", it would hide a hook of the user's. */
export function missingFrom(framework: string, version: string): (field: string) => never {
  return (field) => {
    throw new Error(
      `${framework} ${version} has no ${field}, which crud-controllers reads; use a version that it is tested with.`,
    );
  };
}

/** The value, after a check of each of its fields, whose names are words of a text. */
export function withFields<T extends object>(
  value: T,
  name: string,
  fields: string,
  missing: (field: string) => never,
): T {
  for (const field of fields.split(' ')) if (!(field in value)) missing(`${name}.${field}`);
  return value;
}
