/** The class of a create or update body, derived from a model. */
import { Transform } from 'class-transformer';
import type { Exposure } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { type AttributeInfo, isFilled, isGenerated, type ModelInfo } from '../describe/model-info.js';
import { copyValidators } from './attribute-decorators.js';
import { type Decorator, decoratorsOf } from './class-validator-internals.js';
import { holdsColumnRules } from './column-rules.js';
import { copyType, copyWriteTransforms } from './model-decorators.js';
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

/** Shape that a body class is derived from. */
export function shapeBodyClass(info: ModelInfo, exposure: Exposure, kind: BodyKind): ShapeClass {
  const attributes = writableAttributes(info, exposure, kind);
  return (target) => {
    for (const attribute of attributes) {
      const { type } = attribute;
      applyColumnRules(target, attribute, presenceOf(info, attribute, kind));
      copyWriteTransforms(info, attribute.name, target.prototype, (value) => holdsColumnRules(type, value));
      // Last, because class-transformer runs first what was added last: the user's transforms get the parsed value.
      applyParsing(info, attribute, target);
    }
    copyValidators(info, new Set(attributes.map((attribute) => attribute.name)), target);
    // The catalogue may be read when the class is there already.
    return () => (kind === 'create' ? nullDefaults(info, attributes) : {});
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
function nullDefaults(info: ModelInfo, attributes: readonly AttributeInfo[]): Record<string, null> {
  const optional = attributes.filter((attribute) => {
    const isAsked = presenceOf(info, attribute, 'create') === 'required';
    return attribute.nullable && !isFilled(attribute) && attribute.type.kind !== 'virtual' && !isAsked;
  });
  return Object.fromEntries(optional.map(({ name }) => [name, null]));
}

/** Rule of an attribute in a body where it is absent, and where it is null. */
export function presenceOf({ model }: ModelInfo, attribute: AttributeInfo, kind: BodyKind): Presence {
  const mayMiss = kind === 'update' || isFilled(attribute);
  const demand = attribute.nullable ? demandOf(model, attribute.name) : 'always';
  if (demand === null) return 'nullable';
  if (demand === 'perhaps') return mayMiss ? 'decidedWhereGiven' : 'decided';
  return mayMiss ? 'optional' : 'required';
}

/** `perhaps` is where a `@ValidateIf` of the user's decides. */
type Demand = 'always' | 'perhaps' | null;

/** Demand of decorators like `@IsDefined()` and `@IsNotEmpty()` on an attribute; `@IsOptional()` takes it back. */
function demandOf(model: object, attribute: string): Demand {
  const found = decoratorsOf(model as Class).byProperty.get(attribute) ?? [];
  if (found.some(({ name }) => name === 'isOptional') || !found.some(refusesNull)) return null;
  return found.some(({ type }) => type === 'conditionalValidation') ? 'perhaps' : 'always';
}

/** About there being a value. Any other decorator refuses null as well, and says nothing of that. */
const ABOUT_PRESENCE: ReadonlySet<string> = new Set([
  'isDefined',
  'isNotEmpty',
  'arrayNotEmpty',
  'isNotEmptyObject',
]);

function refusesNull({ name = '', constraints, each }: Decorator): boolean {
  // `each` is about the items, not about the list.
  if (each) return false;
  const [first]: readonly unknown[] = constraints ?? [];
  if (name === 'isNotIn') return Array.isArray(first) && first.includes(null);
  return ABOUT_PRESENCE.has(name) || (name === 'notEquals' && first === null);
}
