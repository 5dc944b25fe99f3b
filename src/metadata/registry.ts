/** The append-only list of what `@Crud` recorded. Nothing is ever removed or changed, so every reader sees the same. */
import type { CrudOptions, ModelClass } from './crud-options.js';

/** One use of `@Crud`. */
export interface CrudRecord {
  readonly model: ModelClass;
  readonly options: CrudOptions;
}

// On globalThis, so that a second copy of the package in one process still finds the models of the first.
const REGISTRY = Symbol.for('crud-controllers:registry:v1');

function storage(): CrudRecord[] {
  const holder = globalThis as { [REGISTRY]?: CrudRecord[] };
  holder[REGISTRY] ??= [];
  return holder[REGISTRY];
}

/** Adds a record. Records and returns, nothing more: all checking is done when an application is bootstrapped. */
export function recordCrud(record: CrudRecord): void {
  storage().push(Object.freeze(record));
}

/** Every record so far, in the order the classes were declared. */
export function crudRecords(): readonly CrudRecord[] {
  return [...storage()];
}
