/** The class of a create or update body, derived from a model. */
import { Transform } from 'class-transformer';
import { type AttributeInfo, isFilled, isGenerated, type ModelInfo } from '../model/model-info.js';
import type { Exposure } from '../plan/resource-plan.js';
import { holdsColumnRules } from './column-rules.js';
import { copyType, copyValidators, copyWriteTransforms } from './model-decorators.js';
import {
  applyColumnRules,
  derivedClass,
  type Presence,
  type SchemaClass,
  type SchemaKind,
  type ShapeClass,
  schemaName,
} from './synthesize-class.js';
import { parseColumnValue } from './wire-value.js';

/** The two bodies a resource takes. */
export type BodyKind = Exclude<SchemaKind, 'read'>;

/**
 * The attributes a body may have. Timestamps and the version belong to Sequelize; the primary key belongs to the
 * database, except in a create where nothing else of the model would fill it. Generated columns belong to their table.
 */
export function writableAttributes(info: ModelInfo, exposure: Exposure, kind: BodyKind): AttributeInfo[] {
  return [...info.attributes.values()].filter((attribute) => {
    const { name, role, type, hasDefault } = attribute;
    if (exposure.unwritable.has(name) || isGenerated(attribute)) return false;
    if (role === 'primaryKey') return kind === 'create' && !hasDefault;
    // A virtual attribute can be written when it has a setter; every other kind always can.
    return (
      role === 'data' && (type.kind !== 'virtual' || info.model.getAttributes()[name]?.set !== undefined)
    );
  });
}

/** What a body class is derived from. */
export function shapeBodyClass(info: ModelInfo, exposure: Exposure, kind: BodyKind): ShapeClass {
  const attributes = writableAttributes(info, exposure, kind);
  return (target) => {
    for (const attribute of attributes) {
      const { type } = attribute;
      applyColumnRules(target, attribute, presenceOf(attribute, kind));
      copyWriteTransforms(info, attribute.name, target.prototype, (value) => holdsColumnRules(type, value));
      // Last, because class-transformer runs first what was added last: the user's transforms get the parsed value.
      applyParsing(info, attribute, target);
    }
    copyValidators(info, new Set(attributes.map((attribute) => attribute.name)), target);
    // The catalogue may be read when the class is there already.
    return () => (kind === 'create' ? nullDefaults(attributes) : {});
  };
}

/** Derives `ArticleCreate` or `ArticleUpdate`. */
export function deriveBodyClass(info: ModelInfo, exposure: Exposure, kind: BodyKind): SchemaClass {
  return derivedClass(schemaName(info, kind), shapeBodyClass(info, exposure, kind));
}

/** Gives the values of a body the types that the model holds. */
function applyParsing(info: ModelInfo, { name, type }: AttributeInfo, derived: SchemaClass): void {
  // A JSON value with a class of its own is what that class makes of it. On other columns the column's type decides.
  if (type.kind === 'json' && copyType(info, name, derived.prototype)) return;
  // `obj[key]`, not `value`: class-transformer has already copied the value, and drops keys from JSON on the way.
  Transform(({ obj, key }) => parseColumnValue(type, obj[key]), { toClassOnly: true })(
    derived.prototype,
    name,
  );
}

/** Nullable attributes without a default are null in a new row, and say so. */
function nullDefaults(attributes: readonly AttributeInfo[]): Record<string, null> {
  const optional = attributes.filter(
    (attribute) => attribute.nullable && !isFilled(attribute) && attribute.type.kind !== 'virtual',
  );
  return Object.fromEntries(optional.map(({ name }) => [name, null]));
}

/** What an attribute does in a body when it is absent, and when it is null. */
export function presenceOf(attribute: AttributeInfo, kind: BodyKind): Presence {
  if (attribute.nullable) return 'nullable';
  return kind === 'update' || isFilled(attribute) ? 'optional' : 'required';
}
