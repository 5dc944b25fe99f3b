/** The classes of bodies and records, derived from a model: ordinary ones, with the rules of columns as decorators. */

import { Expose, Transform } from 'class-transformer';
import { ValidateBy, ValidateIf } from 'class-validator';
import type { Exposure } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import {
  type AttributeInfo,
  isFilled,
  isGenerated,
  type ModelInfo,
  type RecordInfo,
} from '../describe/model-info.js';
import { copyValidators } from './attribute-decorators.js';
import { derivedClass, type SchemaClass, type ShapeClass } from './class-properties.js';
import { type Decorator, decoratorsOf } from './class-validator-internals.js';
import type { ColumnRule } from './column-rule.js';
import { attributeRules, holdsColumnRules } from './column-rules.js';
import type { JsonSchema } from './json-schema.js';
import { copyReadTransforms, copyType, copyWriteTransforms } from './model-decorators.js';
import { parseColumnValue } from './wire-value.js';

/** The classes of a model. */
export type SchemaKind = 'read' | 'create' | 'update';

/** `ArticleCreate`. */
export function schemaName({ name }: { readonly name: string }, kind: SchemaKind): string {
  return `${name}${kind[0]?.toUpperCase()}${kind.slice(1)}`;
}

/** Separates the messages of column rules from those of the user's validators, which may quote a value. */
export interface RuleContext {
  readonly columnRule: string;
  /** JSON type of the values of the column; only for the rule that checks it. */
  readonly jsonType?: JsonSchema['type'];
}

/** Meaning of an attribute that is absent, and of one that is null. */
export type Presence =
  /** Absent and null are both errors. */
  | 'required'
  /** Absent is fine, null is an error. `@IsOptional` cannot say this: it skips null too. */
  | 'optional'
  /** Both are fine. */
  | 'nullable'
  /** A condition of the user's decides about both. */
  | 'decided'
  /** Absent is fine, and a condition of the user's decides about null. */
  | 'decidedWhereGiven';

function applyColumnRules({ prototype }: SchemaClass, attribute: AttributeInfo, presence: Presence): void {
  for (const decorate of columnDecorators(attribute, presence)) decorate(prototype, attribute.name);
}

/** The decorators that an attribute's column amounts to: the meaning of absence and null, then the rules of its type. */
export function columnDecorators(attribute: AttributeInfo, presence: Presence): readonly PropertyDecorator[] {
  const rules = attributeRules(attribute).map((rule) => ruleDecorator(attribute.name, rule));
  return [...presenceDecorators(presence), ...rules];
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function presenceDecorators(presence: Presence): readonly PropertyDecorator[] {
  if (presence === 'nullable') return [ValidateIf((_object, value) => isGiven(value))];
  const whereGiven = ValidateIf((_object, value) => value !== undefined);
  const isDefined = ValidateBy({
    name: 'isDefined',
    validator: {
      validate: isGiven,
      defaultMessage: (validation) =>
        validation?.value === undefined ? '$property is required' : '$property must not be null',
    },
  });
  return [
    ...(presence === 'optional' || presence === 'decidedWhereGiven' ? [whereGiven] : []),
    ...(presence === 'optional' || presence === 'required' ? [isDefined] : []),
  ];
}

function ruleDecorator(attribute: string, rule: ColumnRule): PropertyDecorator {
  const { name, constraints, check, schema } = rule;
  const context: RuleContext = {
    get columnRule() {
      return rule.text;
    },
    ...(schema.type && { jsonType: schema.type }),
  };
  return ValidateBy(
    {
      name,
      constraints: [...constraints],
      validator: {
        // Null and absence are decided by the presence of the attribute, in one place.
        validate: (value) => !isGiven(value) || check(value),
        defaultMessage: () => `${attribute} ${rule.text}`,
      },
    },
    { context },
  );
}

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
      // Last, because class-transformer runs the last one first: the user's transforms get the parsed value.
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

/** Converts the values of a body to the types that the model holds. */
function applyParsing(info: ModelInfo, { name, type }: AttributeInfo, derived: SchemaClass): void {
  // A JSON value with a class of its own is the value that the class makes of it. On other columns the column's type decides.
  if (type.kind === 'json' && copyType(info, name, derived.prototype)) return;
  // `obj[key]`, not `value`: class-transformer has already copied the value, and drops keys from JSON on the way.
  Transform(({ obj, key }) => parseColumnValue(type, obj[key]), { toClassOnly: true })(
    derived.prototype,
    name,
  );
}

/** Nullable attributes without a default are null in a new row, and say so. */
function nullDefaults(info: ModelInfo, attributes: readonly AttributeInfo[]): Record<string, null> {
  const optional = attributes.filter(
    (each) =>
      each.nullable &&
      !isFilled(each) &&
      each.type.kind !== 'virtual' &&
      presenceOf(info, each, 'create') !== 'required',
  );
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

/** Demand of decorators like `@IsDefined()` and `@IsNotEmpty()` on an attribute, where no condition decides; `@IsOptional()` takes it back. */
function demandOf(model: object, attribute: string): 'always' | 'perhaps' | null {
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

/** The attributes that leave. */
export function readableAttributes(
  info: RecordInfo,
  exposure: Pick<Exposure, 'unreadable'>,
): AttributeInfo[] {
  return [...info.attributes.values()].filter(({ name }) => !exposure.unreadable.has(name));
}

/** Shapes the class of a record from its attributes. */
export function shapeReadClass(info: RecordInfo, exposure: Exposure): ShapeClass {
  return (target) => {
    for (const attribute of readableAttributes(info, exposure)) {
      Expose()(target.prototype, attribute.name);
      copyReadTransforms(info, attribute.name, target.prototype);
      applyColumnRules(target, attribute, attribute.nullable ? 'nullable' : 'required');
    }
    return () => ({});
  };
}

/** Derives `ArticleRead`. */
export function deriveReadClass(info: RecordInfo, exposure: Exposure): SchemaClass {
  return derivedClass(schemaName(info, 'read'), shapeReadClass(info, exposure));
}
