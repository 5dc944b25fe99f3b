/** The schema of ids. */
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { JsonSchema } from '../schema/json-schema.js';

/** An id beyond the range of its column is no mistake: there is no such record. */
export function idSchema({ idKind, info }: ResourcePlan): JsonSchema {
  const { type } = info.primaryKey;
  switch (idKind) {
    case 'integer':
      return { type: 'integer' };
    case 'bigint':
      return { type: 'string', pattern: '^(?:0|-?[1-9][0-9]*)$' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'enum':
      return { type: 'string', enum: type.kind === 'enum' ? type.values : [] };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        ...(type.kind === 'string' && type.maxLength !== null ? { maxLength: type.maxLength } : {}),
      };
    case 'custom':
      return { type: 'string', minLength: 1 };
  }
}
