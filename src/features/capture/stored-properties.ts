/** The properties of answers, and the columns of a table that they are made of: the names that changes of columns have. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { hasGetter } from '../../describe/model-info.js';
import { hasJsonForm } from '../../describe/record.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { classProperties, shownName } from '../../schema/class-properties.js';
import { readableAttributes } from '../../schema/derive-class.js';
import { isTransformed } from '../../schema/model-decorators.js';

/** A property of answers, and the column that it is made of. */
export interface StoredProperty {
  readonly name: string;
  readonly attribute: string;
  readonly column: string;
  /** True where code of the user's makes the value, which no stored text takes the place of. */
  readonly isMade: boolean;
}

/** The properties of answers that are columns, in their order. */
export function storedProperties(plan: ResourcePlan): readonly StoredProperty[] {
  const { info, exposure, explicitSchemas } = plan;
  const { read } = explicitSchemas;
  const names = read
    ? [...classProperties(read, 'read')].map((name) => [name, shownName(read, name)] as const)
    : readableAttributes(info, exposure).map(({ name }) => [name, name] as const);
  const isMadeByCode = read !== null || hasJsonForm(info.model);
  const stored = new Map(storedAttributes(info).map((each) => [each.name, each]));
  return names.flatMap(([attribute, name]) => {
    const column = stored.get(attribute)?.column;
    if (column === undefined) return [];
    const isMade =
      isMadeByCode || hasGetter(info.model, attribute) || isTransformed(info.model, attribute, 'read');
    return [{ name, attribute, column, isMade }];
  });
}
