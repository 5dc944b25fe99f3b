/** The plan of a model -> the parts of its file: the regions that are generated again, and all around them that is written once. */
import { MAX_SORT_TERMS } from '../compile/compile-sort.js';
import { callWith, docComment, quoted, quotedList } from './code-text.js';
import { columnCode, constantDefault } from './column-code.js';
import { importLines, type NeededImport } from './import-code.js';
import type { AttributePlan, DatabaseIndex, DatabaseTable, ModelPlan, RelationPlan } from './model-plan.js';
import { markRegion } from './region.js';

/** The code of a model. */
export interface ModelCode {
  readonly className: string;
  readonly table: DatabaseTable;
  /** `order-line.ts`. */
  readonly file: string;
  /** Imports that the regions need. */
  readonly imports: readonly NeededImport[];
  /** Labels of enums and their types, above the decorators; null without enums. */
  readonly enums: string | null;
  /** Attributes and relations. */
  readonly columns: string;
  /** The file, as it is when it is new. */
  readonly whole: string;
  /** Why the model has no `@Crud`; null where it has one. */
  readonly unserved: string | null;
}

interface ModelContext {
  /** By class name. */
  readonly models: ReadonlyMap<string, ModelPlan>;
  /** True where tables may be written; views never are. */
  readonly isWritable: boolean;
}

const DECORATORS = 'sequelize-typescript';
const OURS = 'crud-controllers';

/** The file of a model. */
export function fileOf({ fileName }: Pick<ModelPlan, 'fileName'>): string {
  return `${fileName}.ts`;
}

/** The code of a model. */
export function modelCode(plan: ModelPlan, context: ModelContext): ModelCode {
  const { className, table } = plan;
  const imports = new Map<string, NeededImport>();
  const need = (from: string, name: string, isType = false) => {
    imports.set(name, { from, name, isType });
    return name;
  };
  const enums = enumNames(plan, context);
  const auto = plan.attributes.find(isAutoIncrement);
  const members = [
    ...plan.attributes.map((each) => attributeLines(each, each === auto, enums.get(each), need)),
    ...plan.relations.map((each) => relationLines(each, plan, context, need)),
    ...(plan.attributes.some(({ isKey }) => isKey) ? [] : [KEYLESS]),
  ];
  if (members.includes(KEYLESS)) need(DECORATORS, 'Model');
  const columns = members.map((lines) => lines.join('\n')).join('\n\n');
  const enumLines = plan.attributes.flatMap((each) => {
    const names = enums.get(each);
    if (!names) return [];
    return [
      `export const ${names.labels} = ${quotedList(each.column.labels ?? [])} as const;`,
      `export type ${names.type} = (typeof ${names.labels})[number];`,
    ];
  });
  const region = enumLines.length > 0 ? enumLines.join('\n') : null;
  const own = new Map(imports);
  const { lines: options, unserved } = crudLines(plan, context);
  const needOnce = (from: string, name: string) => own.set(name, { from, name, isType: false });
  if (options.length > 0) needOnce(OURS, 'Crud');
  for (const name of ['Model', 'Table']) needOnce(DECORATORS, name);
  const head = [...options, ...tableLines(plan, (name) => needOnce('sequelize', name))];
  const whole = [
    ...docComment(
      [`${subjectOf(plan)}: what is between the marks is generated again, and the rest is yours.`],
      '',
    ),
    ...importLines([...own.values()]),
    '',
    ...(region === null ? [] : [markRegion('enums', region, ''), '']),
    ...docComment([table.comment ?? ''], ''),
    ...head,
    `export class ${className} extends Model {`,
    markRegion('columns', columns, '  '),
    '}',
    '',
  ].join('\n');
  return {
    className,
    table,
    file: fileOf(plan),
    imports: [...imports.values()],
    enums: region,
    columns,
    whole,
    unserved,
  };
}

function subjectOf({ table: { kind, schema, name } }: ModelPlan): string {
  return `The ${kind} ${schema}.${name}`;
}

type Need = (from: string, name: string, isType?: boolean) => string;

/** Sequelize adds an attribute `id` to a model without a key. */
const KEYLESS = [
  '  /** The table has no key, and no column for the attribute that Sequelize would add. */',
  '  static override initialize(...given: Parameters<typeof Model.initialize>): never {',
  '    super.initialize(...given);',
  "    this.removeAttribute('id');",
  '    return this as never;',
  '  }',
];

interface EnumNames {
  /** The array of labels: `ORDER_STATUS`. */
  readonly labels: string;
  /** The union of them: `OrderStatus`. */
  readonly type: string;
}

const RESERVED: ReadonlySet<string> = new Set(
  ['Column', 'DataType', 'Model', 'Table', 'Crud', 'Ref', 'Exclude', 'BelongsTo', 'HasOne', 'HasMany'].concat(
    ['BelongsToMany', 'BelongsToKey', 'HasManyKey', 'Buffer', 'Date', 'Parameters', 'Record', 'literal'],
  ),
);

/** Names of the enums of a file: those of no class, of no import and of no other enum. */
function enumNames({ className, attributes }: ModelPlan, { models }: ModelContext) {
  const names = new Map<AttributePlan, EnumNames>();
  const taken = new Set([...models.keys(), className, ...RESERVED]);
  const free = (wanted: string): string => {
    let name = wanted;
    while (taken.has(name)) name += '_';
    taken.add(name);
    return name;
  };
  for (const each of attributes) {
    if (!each.column.labels || each.column.labels.length === 0) continue;
    const plain = `${className}${each.name.charAt(0).toUpperCase()}${each.name.slice(1)}`;
    const type = free(taken.has(plain) ? `${plain}Label` : plain);
    const constant = plain.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toUpperCase();
    names.set(each, { type, labels: free(constant) });
  }
  return names;
}

function isAutoIncrement({ isKey, column: { identity, defaultSql, base, isArray } }: AttributePlan): boolean {
  if (!isKey || isArray || !['smallint', 'integer', 'bigint'].includes(base)) return false;
  return identity !== null || (defaultSql?.startsWith('nextval(') ?? false);
}

function attributeLines(
  { name, column, isKey, isSecret }: AttributePlan,
  isAuto: boolean,
  names: EnumNames | undefined,
  need: Need,
): string[] {
  const code = columnCode(column, names?.labels);
  if (code.type.startsWith('DataType.')) need(DECORATORS, 'DataType');
  const constant = isKey || isSecret ? undefined : constantDefault(column);
  const field = names && !column.isArray ? names.type : names ? `${names.type}[]` : code.field;
  const options = {
    type: code.type,
    primaryKey: flag(isKey),
    autoIncrement: flag(isAuto),
    allowNull: column.isNotNull && !isKey && !column.isGenerated ? 'false' : undefined,
    defaultValue: constant,
    field: column.name === name ? undefined : quoted(column.name),
  };
  const decorator = `@${need(DECORATORS, 'Column')}`;
  // Sequelize stores other bytes.
  const isBlobs = column.isArray && column.base === 'bytea';
  const isNullable = !column.isNotNull && !isKey && code.field !== 'unknown';
  return [
    ...docComment([column.comment ?? '', ...remarks(column, isSecret || constant !== undefined)], '  '),
    ...(isSecret || isBlobs
      ? [`  @${need('class-transformer', 'Exclude')}(${isSecret ? (isRequired(column) ? READ : '') : WRITE})`]
      : []),
    ...(Object.values(options).filter((each) => each !== undefined).length === 1
      ? [`  ${decorator}(${code.type})`]
      : callWith(`${decorator}(`, options, '  ')),
    `  declare ${name}: ${field}${isNullable ? ' | null' : ''};`,
  ];
}

const WRITE = '{ toClassOnly: true }';

/** A secret that no row can be created without is in no answer, and in bodies. */
const READ = '{ toPlainOnly: true }';

function isRequired({ isNotNull, defaultSql, isGenerated, identity }: AttributePlan['column']): boolean {
  return isNotNull && defaultSql === null && !isGenerated && identity === null;
}

function flag(isSet: boolean): string | undefined {
  return isSet ? 'true' : undefined;
}

function listOf(names: readonly string[]): string | undefined {
  return names.length > 0 ? quotedList(names, '  ') : undefined;
}

/** Facts of a column that no option says. @param isValue true where a comment needs no default */
function remarks({ domain, isGenerated, identity, defaultSql }: AttributePlan['column'], isValue: boolean) {
  const isDrawn = identity !== null || (defaultSql?.startsWith('nextval(') ?? false);
  return [
    ...(domain ? [`Domain ${[domain.name, ...domain.checks].join(', ')}.`] : []),
    ...(isGenerated ? ['The database makes its values.'] : []),
    ...(defaultSql === null || isValue || isGenerated || isDrawn ? [] : [`Default: ${defaultSql}`]),
  ];
}

function relationLines(relation: RelationPlan, plan: ModelPlan, { models }: ModelContext, need: Need) {
  const { kind, name, target, foreignKey, referencedKey, through, onDelete } = relation;
  const isOne = kind === 'BelongsTo' || kind === 'HasOne' || kind === 'BelongsToKey';
  const other = models.get(target);
  const classOf = (className: string): string => {
    const model = models.get(className);
    if (className !== plan.className && model) need(`./${fileOf(model).replace(/\.ts$/, '.js')}`, className);
    return className;
  };
  const options = {
    through: through && `() => ${classOf(through.model)}`,
    foreignKey: quoted(foreignKey),
    otherKey: through && quoted(through.otherKey),
    [kind === 'BelongsTo' ? 'targetKey' : 'sourceKey']: keyUnless(
      primary(kind === 'BelongsTo' ? other : plan),
      referencedKey,
    ),
    ...(through && { targetKey: keyUnless(primary(other), through.referencedKey) }),
    onDelete: onDelete && onDelete !== 'NO ACTION' && !through ? quoted(onDelete) : undefined,
  };
  const ref = need(OURS, 'Ref', true);
  const isKey = kind === 'BelongsToKey' || kind === 'HasManyKey';
  const keys = isKey ? [relation, ...(relation.more ?? [])] : [];
  const owners = (isKey ? keys : [relation]).map((pair) =>
    plan.attributes.find((each) => each.name === pair.foreignKey),
  );
  const isNullable = owners.some((each) => each?.column.isNotNull !== true);
  const mayLack = kind === 'HasOne' || (isOne && isNullable);
  const pairs = keys.map((pair) =>
    kind === 'BelongsToKey' ? [pair.foreignKey, pair.referencedKey] : [pair.referencedKey, pair.foreignKey],
  );
  const given = isKey ? Object.fromEntries(pairs.map(([one = '', two = '']) => [one, quoted(two)])) : options;
  return [
    ...callWith(`@${need(isKey ? OURS : DECORATORS, kind)}(() => ${classOf(target)}, `, given, '  '),
    isOne
      ? `  declare ${name}?: ${ref}<${target}>${mayLack ? ' | null' : ''};`
      : `  declare ${name}?: ${ref}<${target}[]>;`,
  ];
}

/** The only attribute of the key of a model; undefined where it has none or several. */
function primary(model: ModelPlan | undefined): string | undefined {
  const [key, ...others] = model?.attributes.filter(({ isKey }) => isKey) ?? [];
  return others.length === 0 ? key?.name : undefined;
}

/** An association joins by the primary key, unless it names another one. */
function keyUnless(key: string | undefined, referenced: string): string | undefined {
  return key === referenced ? undefined : quoted(referenced);
}

/** `@Crud` with the options of the table, or why it has none. */
function crudLines(plan: ModelPlan, { isWritable }: ModelContext) {
  const { table, id, filterAllow, sortAllow, attributes, prefix, proposals } = plan;
  const isKept = isWritable && !table.kind.endsWith('view');
  const sorted = attributes.filter((each) => !each.isSecret && columnCode(each.column).isOrdered);
  const leading = sortAllow.filter((name) => sorted.some((each) => each.name === name));
  const order = [...new Set([...leading, ...sorted.map(({ name }) => name)])].slice(0, MAX_SORT_TERMS);
  if (id.length === 0 && order.length === 0)
    return { lines: [], unserved: 'it has neither a key nor a column that its list could be sorted by.' };
  const isKeyed = id.length > 0;
  const options = {
    prefix: prefix === null ? undefined : quoted(prefix),
    readOnly: flag(isKeyed && !isKept),
    id: id.length > 1 ? quotedList(id) : undefined,
    endpoints: isKeyed ? undefined : quotedList(isKept ? ['list', 'create'] : ['list']),
    pagination: isKeyed ? quoted('cursor') : undefined,
    defaultSort: isKeyed ? undefined : quoted(order.join(',')),
    only: flag(table.isInherited && table.kind === 'table'),
    filterAllow: listOf(filterAllow),
    sortAllow: listOf(sortAllow),
  };
  return { lines: callWith('@Crud(', options, '', proposals), unserved: null };
}

function tableLines({ table }: ModelPlan, need: (name: string) => void): string[] {
  const indexes = table.indexes.filter(isDeclared).map((index) => indexCode(index, need));
  const list = indexes.map((each) => `\n    ${each},`).join('');
  return callWith('@Table(', {
    schema: quoted(table.schema),
    tableName: quoted(table.name),
    timestamps: 'false',
    indexes: list === '' ? undefined : `[${list}\n  ]`,
  });
}

/** A unique index over some rows, or over an expression, would say that its columns are unique. */
function isDeclared({ isPrimary, isUnique, predicate, columns }: DatabaseIndex): boolean {
  return !isPrimary && (!isUnique || (predicate === null && !columns.includes(null)));
}

function indexCode(index: DatabaseIndex, need: (name: string) => void): string {
  const { name, method, isUnique, columns, expressions, predicate } = index;
  const literal = (sql: string): string => {
    need('literal');
    return `literal(${quoted(sql)})`;
  };
  const fields = columns.map((column, at) =>
    column === null ? literal(`(${expressions[at] ?? ''})`) : quoted(column),
  );
  const members = [
    `name: ${quoted(name)}`,
    ...(isUnique ? ['unique: true'] : []),
    ...(method === 'btree' ? [] : [`using: ${quoted(method)}`]),
    `fields: [${fields.join(', ')}]`,
    ...(predicate === null ? [] : [`where: literal(${quoted(predicate)})`]),
  ];
  if (predicate !== null) need('literal');
  return `{ ${members.join(', ')} }`;
}
