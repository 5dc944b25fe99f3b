/** The option `increment` of `@Crud`: the attributes that a change may add to. */
import { type OptionCheck, visibleAttribute } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { featureOption } from '../../compile/resource-plan.js';
import { NUMBERS } from '../../describe/column-type.js';
import { foreignKeysOf } from '../../describe/foreign-keys.js';
import { type AttributeInfo, customAttributes, isGenerated } from '../../describe/model-info.js';
import { hasType, isTransformed } from '../../schema/model-decorators.js';
import { repeatedNames, showValue } from '../../util/option-problems.js';

/** Compiles the option to the names. */
export function compileNames(value: unknown, check: OptionCheck): readonly string[] {
  const { report } = check;
  if (!Array.isArray(value) || value.length === 0 || !value.every((each) => typeof each === 'string')) {
    report(`increment is ${showValue(value)}; use a list of attributes such as ['stock'].`);
    return [];
  }
  const names = value as readonly string[];
  repeatedNames('increment', names).forEach(report);
  for (const name of names) {
    const attribute = visibleAttribute(check, 'increment', name);
    const problem = attribute && problemOf(check, attribute);
    if (problem) report(`increment names '${name}', ${problem}; leave it out.`);
  }
  return Object.freeze([...names]);
}

/** The reason why nothing is added to an attribute, as a part of a sentence; undefined is none. */
function problemOf({ info: { model, address } }: OptionCheck, attribute: AttributeInfo): string | undefined {
  const { name, type, role } = attribute;
  if (role === 'version') return 'which counts the changes of a record';
  if (role === 'mark') return 'which marks deleted records';
  if (role !== 'data' || address.some((part) => part.name === name)) return 'which is part of a key';
  if (foreignKeysOf(model).some((key) => key.attribute === name)) return 'which names another record';
  if (isGenerated(attribute)) return 'whose values the table makes';
  if (!NUMBERS.includes(type.kind)) return 'which holds no numbers';
  if (['get', 'set'].some((kind) => customAttributes(model, kind as 'get' | 'set').has(name)))
    return 'which has a getter or setter, so that clients see another number than the column has';
  if (hasType(model, name) || isTransformed(model, name, 'write') || isTransformed(model, name, 'read'))
    return 'which @Type or @Transform changes, so that clients see another number than the column has';
  return undefined;
}

/** Problems of options that do not fit it. */
export const checkIncrement: ResourceCheck = ({ features, exposure, access, explicitSchemas }) => {
  const names = incrementsOf({ features });
  if (names.length === 0) return [];
  const isSet = (name: string) =>
    access?.scope.has(name) || (access?.set.get(name)?.on ?? 'create') !== 'create';
  return [
    ...(explicitSchemas.update
      ? [
          `increment needs the derived schema, and updateSchema is ${explicitSchemas.update.name}, whose rules would not see the sums; ` +
            'leave one of both out.',
        ]
      : []),
    ...names
      .filter(
        (name) => exposure.unwritable.has(name) || access?.fields.get(name)?.update === false || isSet(name),
      )
      .map((name) => `increment names '${name}', which no change may set; leave it out.`),
  ];
};

/** The attributes that the option names. */
export const incrementsOf = featureOption<readonly string[]>('increment', []);
