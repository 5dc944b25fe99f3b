/** Plans of models with the members that a test is about, and defaults for all others. */
import type {
  AttributePlan,
  DatabaseColumn,
  DatabaseIndex,
  DatabaseTable,
  ModelPlan,
} from '../../src/scaffold/model-plan.js';

export function columnOf(name: string, given: Partial<DatabaseColumn> = {}): DatabaseColumn {
  const type = given.type ?? given.base ?? 'text';
  return {
    name,
    comment: null,
    type,
    base: type.replace(/\(.*?\)|\[\]/g, ''),
    isArray: type.endsWith('[]'),
    labels: null,
    domain: null,
    isNotNull: false,
    defaultSql: null,
    identity: null,
    isGenerated: false,
    formProblem: null,
    ...given,
  };
}

export function attributeOf(
  name: string,
  given: Partial<AttributePlan & DatabaseColumn> = {},
): AttributePlan {
  const { isKey = false, isSecret = false, column, ...own } = given;
  return { name, isKey, isSecret, column: column ?? columnOf(name, { isNotNull: isKey, ...own }) };
}

export function indexOf(name: string, given: Partial<DatabaseIndex> = {}): DatabaseIndex {
  return {
    name,
    method: 'btree',
    isUnique: false,
    isPrimary: false,
    isExact: true,
    columns: [],
    expressions: [],
    predicate: null,
    definition: '',
    ...given,
  };
}

/** A model with the key `id`, unless the attributes say another. */
export function modelOf(
  className: string,
  {
    table,
    attributes = [],
    ...given
  }: Partial<Omit<ModelPlan, 'table'>> & { table?: Partial<DatabaseTable> } = {},
): ModelPlan {
  const name = className.toLowerCase();
  const all = attributes.some(({ isKey }) => isKey)
    ? attributes
    : [attributeOf('id', { isKey: true, type: 'integer', identity: 'always' }), ...attributes];
  return {
    className,
    fileName: name,
    attributes: all,
    relations: [],
    id: all.filter(({ isKey }) => isKey).map((each) => each.name),
    filterAllow: [],
    sortAllow: [],
    prefix: null,
    proposals: [],
    table: {
      schema: 'shop',
      name: `${name}s`,
      kind: 'table',
      comment: null,
      isInherited: false,
      columns: all.map(({ column }) => column),
      primaryKey: [],
      indexes: [],
      foreignKeys: [],
      setByTriggers: [],
      ...table,
    },
    ...given,
  };
}
