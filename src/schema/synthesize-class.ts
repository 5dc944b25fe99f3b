/** Building blocks of the derived classes: a class with a name, and column rules as class-validator metadata. */
import { ValidateBy, ValidateIf } from 'class-validator';
import type { AttributeInfo } from '../model/model-info.js';
import { attributeRules, type ColumnRule } from './column-rules.js';

/** A derived class: ordinary, constructed without arguments. */
export type SchemaClass = new () => object;

/** An empty class of that name whose instances begin with these values. */
export function namedClass(name: string, initialValues: Readonly<Record<string, unknown>> = {}): SchemaClass {
  // One with a constructor would be taken for a class that does something in it.
  if (Object.keys(initialValues).length === 0) return { [name]: class {} }[name] as SchemaClass;
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
  for (const decorate of columnDecorators(attribute, presence)) decorate(target.prototype, attribute.name);
}

/** The decorators that an attribute's column amounts to: what absence and null mean, then the rules of its type. */
export function columnDecorators(attribute: AttributeInfo, presence: Presence): readonly PropertyDecorator[] {
  const rules = attributeRules(attribute).map((rule) => ruleDecorator(attribute.name, rule));
  return [...presenceDecorators(presence), ...rules];
}

function presenceDecorators(presence: Presence): readonly PropertyDecorator[] {
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
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

function ruleDecorator(attribute: string, { name, constraints, check, text }: ColumnRule): PropertyDecorator {
  const context: RuleContext = { columnRule: text };
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
