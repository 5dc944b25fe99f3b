/** A record's values through a class with class-transformer decorators: `@Expose`, `@Exclude`, `@Transform`, `@Type`. */
import { instanceToPlain, plainToInstance } from 'class-transformer';
import type { Class } from '../metadata/crud-options.js';

/** The values as the class shows them. */
export function readThroughClass(schema: Class, values: object): object {
  const instance = plainToInstance(schema as new () => object, values, { exposeUnsetFields: false });
  return instanceToPlain(instance, { exposeUnsetFields: false });
}
