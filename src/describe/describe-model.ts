/** Sequelize model class -> `ModelInfo`. Reads Sequelize's stored attributes; needs no reflected types. */

import pg from 'pg';
import { DataTypes, Model, type ModelAttributeColumnOptions } from 'sequelize';
import { type ModelCtor, Sequelize } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { ConfigError } from '../util/config-error.js';
import { BoundedCache, perPair } from '../util/memo.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { addIdText, isIdText, makeAddressed, memberProblem, splitId } from './addressed-model.js';
import { introspectColumnType } from './column-type.js';
import { countLock, type LockColumn, lockOf } from './lock-column.js';
import {
  type AttributeInfo,
  type AttributeRole,
  type ModelInfo,
  type RowKey,
  timestampsOf,
  versionOf,
} from './model-info.js';
import { leaveOutHeirs } from './only-internals.js';
import { declaredOptions, EXTENDS_MODEL, isModelClass } from './record.js';
import { keyText } from './row-key.js';
import { attributesVersion, instanceOptions, refuseRowsWithoutKey } from './sequelize-internals.js';
import { describeSoftDeletion, markName } from './soft-deletion.js';
import { ofTables, tableFacts } from './table-facts.js';
import { typeOfColumn } from './type-difference.js';

type Introspection =
  | { readonly info: ModelInfo; readonly problems: readonly [] }
  | { readonly info: null; readonly problems: readonly string[] };

/** True where `model` belongs to a Sequelize instance. */
export function isAttached(model: ModelClass): boolean {
  return Boolean(model.sequelize);
}

/** Describes a model once. Never throws for a wrong model: every problem is returned, with its fix. */
export function introspectModel(model: ModelClass): Introspection {
  if (!isModelClass(model)) {
    const { name } = model as { readonly name: string };
    return failure([`${name} has @Crud and is no model; write class ${name} ${EXTENDS_MODEL}.`]);
  }
  if (!isAttached(model)) {
    return failure([
      `${model.name} is not attached to a Sequelize instance; list it in the engine's models, or in ` +
        'new Sequelize({ models: [...] }), before bootstrap is called.',
    ]);
  }
  const names = nameProblems(model);
  // Attributes with wrong names make records impossible, and the next check creates one.
  const shadowed = names.length > 0 ? [] : shadowedAttributeProblems(model);
  const problems = [...names, ...shadowed];
  if (problems.length > 0) return failure(problems);
  const info = infoOf(model, (problem) => problems.push(problem));
  if (problems.length > 0) return failure(problems);
  const id: unknown = declaredOptions(model)?.id;
  return id === undefined ? { info, problems: [] } : tryAddress(info, id);
}

function infoOf(model: ModelClass, report: (problem: string) => void): ModelInfo {
  const attributes = introspectAttributes(model);
  const softDelete = describeSoftDeletion(model, attributes, report);
  const key: RowKey = Object.freeze(
    model.primaryKeyAttributes.map((each) => attributes.get(each) as AttributeInfo),
  );
  if (key.length === 0) refuseRowsWithoutKey(model);
  return Object.freeze({
    model,
    name: model.name,
    pluralName: model.options.name?.plural ?? model.name,
    attributes,
    primaryKey: key,
    address: key,
    softDelete,
    ...heirsOf(model),
  });
}

/** The same model, whose records other attributes address, or the problem that prevents it. */
export function tryAddress(info: ModelInfo, id: unknown): Introspection {
  const { name, attributes } = info;
  const refuse = (problem: string) => failure([`${name}: id ${problem}`]);
  const { attributes: given } = splitId(id);
  if (given === undefined)
    return refuse(
      `is ${showValue(id)}; use the name of an attribute, a list of names, or { attributes: [...], member: 'id' }.`,
    );
  const names: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (names.length === 0) return refuse('is an empty list; name attributes, or leave it out.');
  for (const each of names) {
    if (typeof each !== 'string')
      return refuse(`is ${showValue(each)}; use the name of an attribute, or a list of names.`);
    const attribute = attributes.get(each);
    if (!attribute) {
      const known = [...attributes.keys()];
      return refuse(
        `names '${each}', which is not an attribute.${didYouMean(each, known)} The attributes are ${known.join(', ')}.`,
      );
    }
    if (names.indexOf(each) !== names.lastIndexOf(each))
      return refuse(`names '${each}' twice; name it once.`);
    if (attribute.type.kind === 'virtual')
      return refuse(
        `names '${each}', which is virtual: no column finds a row by it; use an attribute with a column.`,
      );
    if (attribute.role !== 'data' && attribute.role !== 'primaryKey')
      return refuse(
        `names '${each}', which ${attribute.role === 'mark' ? 'a delete' : 'Sequelize'} writes; use another attribute.`,
      );
  }
  const found = addressedBy(info, names.join(','));
  const problem = memberProblem(info, id, found.address);
  return problem === null ? { info: found, problems: [] } : refuse(problem);
}

const addressed = perPair((_info: ModelInfo) => new BoundedCache<ModelInfo>());

/** The same for attributes that can. The same for the same model and attributes. @param id as `keyText` writes them */
function addressedBy(info: ModelInfo, id: string): ModelInfo {
  if (keyText(info.address) === id) return info;
  const attributes = () => id.split(',').map((name) => info.attributes.get(name) as AttributeInfo);
  return addressed(info).get(id, () => makeAddressed(info, attributes()));
}

/** The attributes of any model, a right one or not. */
export function introspectAttributes(model: ModelClass): ReadonlyMap<string, AttributeInfo> {
  const readOnly: unknown = declaredOptions(model)?.readOnly;
  const kept: readonly unknown[] = Array.isArray(readOnly) ? readOnly : [];
  const mark = markName(model);
  const lock = lockOf(model);
  if (lock) countLock(model, lock);
  addIdText(model, () => attributes);
  const left = lock?.by === 'database' ? [...kept, lock.attribute] : kept;
  const described = Object.entries(model.getAttributes()).map(
    ([name, options]) =>
      [
        name,
        describeAttribute(model, name, options, { mark, lock, isReadOnly: left.includes(name) }),
      ] as const,
  );
  const attributes: ReadonlyMap<string, AttributeInfo> = new Map(described);
  return attributes;
}

function failure(problems: readonly string[]): Introspection {
  return { info: null, problems };
}

/** Options of `@Crud` that say who writes an attribute. */
interface OptionFacts {
  /** Unchecked. */
  readonly mark: unknown;
  readonly lock: LockColumn | null;
  readonly isReadOnly: boolean;
}

function describeAttribute(
  model: ModelClass,
  name: string,
  options: ModelAttributeColumnOptions,
  { mark, lock, isReadOnly }: OptionFacts,
): AttributeInfo {
  const column = cutName(options.field ?? name);
  // The catalogue is read when plans are there already.
  const found = ofTables(() => tableFacts(model)?.columns.get(column));
  const type = typeOfColumn(introspectColumnType(options.type), model, found);
  const role = attributeRole(model, name, mark, lock);
  return Object.freeze({
    name,
    column,
    type,
    role,
    nullable: options.allowNull !== false && options.primaryKey !== true,
    hasDefault: options.autoIncrement === true || options.defaultValue !== undefined,
    ...(isReadOnly ? { isReadOnly } : {}),
    ...(isIdText(options) ? { isIdText: true } : {}),
    ...(role === 'primaryKey' && model.primaryKeyAttributes.length > 1 ? { isPart: true } : {}),
    get found() {
      return found();
    },
  });
}

function attributeRole(
  model: ModelClass,
  name: string,
  mark: unknown,
  lock: LockColumn | null,
): AttributeRole {
  if (model.primaryKeyAttributes.includes(name)) return 'primaryKey';
  if (Object.values(timestampsOf(model)).includes(name)) return 'timestamp';
  if (versionOf(model) === name || lock?.attribute === name) return 'version';
  return mark === name ? 'mark' : 'data';
}

/**
 * A class field without `declare` becomes an own property (`useDefineForClassFields`, the default since ES2022) and
 * hides Sequelize's accessor: every value would read as undefined.
 * https://sequelize.org/docs/v6/core-concepts/model-basics/#caveat-with-public-class-fields
 */
function shadowedAttributeProblems(model: ModelClass): string[] {
  const instance: Model = new model();
  return Object.keys(model.getAttributes())
    .filter((name) => Object.hasOwn(instance, name))
    .map(
      (name) =>
        `${model.name}.${name} is a class field that hides the attribute's accessor; ` +
        `write \`declare ${name}: …\` instead of \`${name}!: …\`.`,
    );
}

/** Attaches those of the models that have no Sequelize instance to one that never connects: describing them needs no database. */
export function attachOffline(models: readonly ModelClass[]): void {
  const loose = [...new Set(models)].filter((model) => !isAttached(model));
  if (loose.length === 0) return;
  // A bundle has the driver that it imports, and none that Sequelize loads by name.
  const sequelize = new Sequelize({ dialect: 'postgres', dialectModule: pg, logging: false });
  sequelize.addModels(loose as unknown as ModelCtor[]);
}

/** Fields that Sequelize's own constructor puts into a record. */
export const RECORD_FIELDS: ReadonlySet<string | symbol> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** Fields that Sequelize adds to the class of a record. */
const CLASS_FIELDS = /^_(?:hasC|c)ustom[GS]etters$/;

/** Sequelize reads `$x` as a parameter or another table, a dot as a path, and drops quotes. A query string has lists with commas. */
const READ_OTHERWISE = /^\$|[".,]/;

/** Problems of the names of a model's attributes and columns, and of its table. */
export function nameProblems(model: ModelClass): string[] {
  const { tableName, schema = '' } = nameOfTable(model);
  if (model.name === '')
    return [
      `The model of the table ${showValue(tableName)} has no name, by which statements name its rows; write class Name extends Model, or give @Table a modelName.`,
    ];
  const misread = misreadName(tableName) ?? misreadName(schema);
  const table = misread === null ? [] : [`${model.name}: the name of its table ${misread}; ${RENAMED}`];
  return [...table, ...attributeProblems(model)];
}

/** The reason why Sequelize would read something else by a name; null where it reads it. */
export function misreadName(name: string): string | null {
  if (name.includes('"'))
    return 'has a quotation mark, and Sequelize leaves it out of every name, so that something else would be read';
  if (name === '*') return 'is *, which Sequelize takes for all columns';
  return /\B\$[$\w]/.test(`"${name}"`) ? 'has a $, and Sequelize takes it for that of a parameter' : null;
}

/** The same of a column. */
export function misreadColumn(name: string): string | null {
  if (name !== '__proto__') return misreadName(name);
  return 'is __proto__, which an object takes for its prototype, so that Sequelize would write nothing';
}

const RENAMED = 'rename it, or read it through a view that gives it another name.';

function nameOfTable(model: ModelClass): { readonly tableName: string; readonly schema?: string } {
  const table = model.getTableName();
  return typeof table === 'string' ? { tableName: table } : table;
}

function attributeProblems(model: ModelClass): string[] {
  const { sequelize } = model;
  const all = model.getAttributes();
  return Object.entries(all).flatMap(([name, { field = name, primaryKey }]) => {
    const other = Object.hasOwn(all, field) ? all[field] : undefined;
    // In orders, and in the row that a write returns, it takes the first attribute that has or is called as a column.
    if (other?.field && other.field !== field && !(other.type instanceof DataTypes.VIRTUAL))
      return [
        `${model.name}.${name}: its column '${field}' has the name of another attribute, and Sequelize would sort by the other column, and show ` +
          `its values after a write; rename the attribute '${field}' (its column keeps its name with @Column({ field: '${other.field}' })).`,
      ];
    if (primaryKey && other && field !== name)
      return [
        `${model.name}.${name}: its column '${field}' is that of another attribute, and Sequelize would read the key of a new row there; give ` +
          'the attributes of the key columns that no other attribute has.',
      ];
    const misread = field === name && READ_OTHERWISE.test(name) ? null : misreadColumn(field);
    if (misread !== null) return [`${model.name}.${name}: its column ${misread}; ${RENAMED}`];
    if (/[()]/.test(field) && sequelize && instanceOptions(sequelize).attributeBehavior !== 'escape')
      return [
        `${model.name}.${name}: its column '${field}' has a parenthesis, and Sequelize takes such a name for no column; set ` +
          "attributeBehavior: 'escape' in the options of its Sequelize instance.",
      ];
    if (cutName(name) !== name) {
      return [
        `${model.name}.${name} has a name of more than 63 bytes, which PostgreSQL cuts where Sequelize reads it back; rename the attribute ` +
          `(its column keeps its name with @Column({ field: '${cutName(field)}' })).`,
      ];
    }
    const isOfRecord = RECORD_FIELDS.has(name) || CLASS_FIELDS.test(name) || name in Model.prototype;
    if (!isOfRecord && !READ_OTHERWISE.test(name)) return [];
    const problem = isOfRecord
      ? 'the name of a member that every record of Sequelize has'
      : "a name which begins with '$', or has one of . , \" in it, and means something else to Sequelize or in a query string";
    const column = READ_OTHERWISE.test(field)
      ? 'best with its column'
      : `its column keeps its name with @Column({ field: '${field}' })`;
    return [`${model.name}.${name} has ${problem}; rename the attribute (${column}).`];
  });
}

/** Memoizes a value of a model, until the model gets attributes anew. A value without a model's attributes is not kept. */
export function perModel<T>(make: (model: ModelClass) => T): (model: ModelClass) => T {
  const known = new WeakMap<ModelClass, { readonly attributes: object; readonly value: T }>();
  return (model) => {
    const attributes = attributesVersion(model);
    const made = known.get(model);
    if (made && made.attributes === attributes) return made.value;
    const value = make(model);
    if (attributes) known.set(model, { attributes, value });
    return value;
  };
}

/**
 * Describes a model.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance, or its attributes have names that mean something else
 */
export function describeModel(model: ModelClass): ModelInfo {
  const { info, problems } = tryDescribeModel(model);
  if (!info) throw new ConfigError(problems);
  return info;
}

/** The same, or everything that is wrong with the model. */
export function tryDescribeModel(model: ModelClass): Introspection {
  const info = described(model);
  return info ? { info, problems: [] } : introspectModel(model);
}

/** The description is kept, because it makes a record to find attributes that the class hides. */
const described = perModel((model) => introspectModel(model).info);

/**
 * Describes a model as far as its rows have values: one that joins two others is served nowhere, and may have any names.
 *
 * @throws ConfigError when the model is not attached to a Sequelize instance
 */
export function describeRecords(model: ModelClass): ModelInfo {
  if (!model.sequelize || model.primaryKeyAttributes.length === 1) return describeModel(model);
  return tryDescribeModel(model).info ?? joining(model);
}

const joining = perModel((model) =>
  infoOf(model, (problem) => {
    throw new ConfigError([problem]);
  }),
);

/**
 * The same, whose rows are addressed as a resource does it.
 *
 * @param id null is as the model says
 */
export function describeAddressed(model: ModelClass, id: string | null): ModelInfo {
  const info = describeRecords(model);
  return id === null ? info : addressedBy(info, id);
}

/** Sequelize has no option for it, so `leaveOutHeirs` changes its statements. */
function heirsOf(model: ModelClass): Pick<ModelInfo, 'leavesHeirs'> {
  if (declaredOptions(model)?.only !== true) return {};
  leaveOutHeirs(model);
  return { leavesHeirs: true };
}

/** Bytes of a name in PostgreSQL: `NAMEDATALEN` without the zero at the end. */
export const MAX_BYTES = 63;

/**
 * A name as it is in the catalogue and in errors: PostgreSQL cuts one that is too long, and says so in a notice only. It cuts at a
 * character, so the name may be shorter.
 */
export function cutName(name: string, most = MAX_BYTES): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= most) return name;
  let end = most;
  // The second and later bytes of a character of UTF-8.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
