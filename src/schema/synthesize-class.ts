/** Building blocks of the derived classes: a class with a name, and column rules as class-validator metadata. */
import { ValidateBy, ValidateIf } from 'class-validator';
import type { AttributeInfo } from '../describe/model-info.js';
import { attributeRules, type ColumnRule } from './column-rules.js';
import type { JsonSchema } from './json-schema.js';

/** A derived class: ordinary, constructed without arguments. */
export type SchemaClass = new () => object;

/** The classes of a model. */
export type SchemaKind = 'read' | 'create' | 'update';

/** `ArticleCreate`. */
export function schemaName({ name }: { readonly name: string }, kind: SchemaKind): string {
  return `${name}${kind[0]?.toUpperCase()}${kind.slice(1)}`;
}

/** Gives a class what it is derived from, and returns what makes the values that its instances begin with. */
export type ShapeClass = (target: SchemaClass) => () => Readonly<Record<string, unknown>>;

const DERIVED = new WeakSet<object>();

/** Steps that finish a class, by the class. */
const UNFINISHED = new WeakMap<object, () => void>();

/** An empty class of that name. */
export function namedClass(name: string): SchemaClass {
  return { [name]: class {} }[name] as SchemaClass;
}

/**
 * A class of that name that gets its shape at the first look: when it is finished, or has an instance. So a class of the user's
 * can extend it before the model is attached, which happens after all modules are loaded.
 */
export function lazyClass(name: string, shape: ShapeClass): SchemaClass {
  let initialValues = (): Readonly<Record<string, unknown>> => ({});
  const holder = {
    [name]: class {
      constructor() {
        finishClass(made);
        Object.assign(this, initialValues());
      }
    },
  };
  const made = holder[name] as SchemaClass;
  DERIVED.add(made);
  UNFINISHED.set(made, () => {
    initialValues = shape(made);
  });
  return made;
}

/** True for such a class, whose constructor runs no code of the user's. */
export function isDerived(target: object): boolean {
  return DERIVED.has(target);
}

/** A class of that name and shape. */
export function derivedClass(name: string, shape: ShapeClass): SchemaClass {
  const made = lazyClass(name, shape);
  finishClass(made);
  return made;
}

/**
 * Gives a class, and those that it extends, what they still lack.
 *
 * @throws ConfigError when the model of one of them is not attached to a Sequelize instance
 */
export function finishClass(target: object): void {
  for (let each: object | null = target; each !== null; each = Object.getPrototypeOf(each)) {
    UNFINISHED.get(each)?.();
    UNFINISHED.delete(each);
  }
}

/** Tells the messages of column rules from those of the user's validators, which may quote a value. */
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

/** Adds the rules of an attribute's column to a class. */
export function applyColumnRules(target: SchemaClass, attribute: AttributeInfo, presence: Presence): void {
  for (const decorate of columnDecorators(attribute, presence)) decorate(target.prototype, attribute.name);
}

/** The decorators that an attribute's column amounts to: what absence and null mean, then the rules of its type. */
export function columnDecorators(attribute: AttributeInfo, presence: Presence): readonly PropertyDecorator[] {
  const rules = attributeRules(attribute).map((rule) => ruleDecorator(attribute.name, rule));
  return [...presenceDecorators(presence), ...rules];
}

function presenceDecorators(presence: Presence): readonly PropertyDecorator[] {
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
  if (presence === 'decided') return [];
  if (presence === 'decidedWhereGiven') return [ValidateIf((_object, value) => value !== undefined)];
  if (presence === 'nullable') return [ValidateIf((_object, value) => isGiven(value))];
  const isDefined = ValidateBy({
    name: 'isDefined',
    validator: {
      validate: isGiven,
      defaultMessage: (validation) =>
        validation?.value === undefined ? '$property is required' : '$property must not be null',
    },
  });
  return presence === 'optional'
    ? [ValidateIf((_object, value) => value !== undefined), isDefined]
    : [isDefined];
}

function ruleDecorator(
  attribute: string,
  { name, constraints, check, text, schema }: ColumnRule,
): PropertyDecorator {
  const context: RuleContext = { columnRule: text, ...(schema.type && { jsonType: schema.type }) };
  return ValidateBy(
    {
      name,
      constraints: [...constraints],
      validator: {
        // Null and absence are decided by the presence of the attribute, in one place.
        validate: (value) => value === undefined || value === null || check(value),
        defaultMessage: () => `${attribute} ${text}`,
      },
    },
    { context },
  );
}
