/** Building blocks of the derived classes: a class with a name, and column rules as class-validator metadata. */
import { ValidateBy, ValidateIf } from 'class-validator';
import type { AttributeInfo } from '../model/model-info.js';
import { type ColumnRule, columnRules } from './column-rules.js';

/** A derived class: ordinary, constructed without arguments. */
export type SchemaClass = new () => object;

/** An empty class of that name whose instances begin with these values. */
export function namedClass(name: string, initialValues: Readonly<Record<string, unknown>> = {}): SchemaClass {
  const holder = {
    [name]: class {
      constructor() {
        Object.assign(this, initialValues);
      }
    },
  };
  return holder[name] as SchemaClass;
}

/** Tells the messages of column rules from those of the user's validators, which may quote a value. */
export interface RuleContext {
  readonly columnRule: string;
}

/** What an attribute does when it is absent, and when it is null. */
export type Presence =
  /** Absent and null are both errors. */
  | 'required'
  /** Absent is fine, null is an error. `@IsOptional` cannot say this: it skips null too. */
  | 'optional'
  /** Both are fine. */
  | 'nullable';

/** Adds the rules of an attribute's column to a class. */
export function applyColumnRules(target: SchemaClass, attribute: AttributeInfo, presence: Presence): void {
  const { name, type } = attribute;
  applyPresence(target, name, presence);
  for (const rule of columnRules(type)) applyRule(target, name, rule);
}

/** Adds what absence and null mean to a class. */
export function applyPresence(target: SchemaClass, attribute: string, presence: Presence): void {
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
  if (presence === 'nullable') {
    ValidateIf((_object, value) => isGiven(value))(target.prototype, attribute);
    return;
  }
  if (presence === 'optional')
    ValidateIf((_object, value) => value !== undefined)(target.prototype, attribute);
  ValidateBy({
    name: 'isDefined',
    validator: {
      validate: isGiven,
      defaultMessage: (validation) =>
        validation?.value === undefined ? '$property is required' : '$property must not be null',
    },
  })(target.prototype, attribute);
}

function applyRule(
  target: SchemaClass,
  attribute: string,
  { name, constraints, check, text }: ColumnRule,
): void {
  const context: RuleContext = { columnRule: text };
  ValidateBy(
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
  )(target.prototype, attribute);
}
