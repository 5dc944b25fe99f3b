/** Keys that do not address one row, and foreign keys that do something else in the database than in the model. */

import type { Association } from 'sequelize';
import { getAssociations } from 'sequelize-typescript';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import { isGenerated, type ModelInfo, type RowKey } from '../describe/model-info.js';
import {
  describeRelation,
  parentKeys,
  type Relation,
  relationNames,
  targetKeys,
} from '../describe/relations.js';
import { keyText } from '../describe/row-key.js';
import { isAddedKey } from '../describe/sequelize-internals.js';
import {
  type ForeignKeyFacts,
  isUniqueKey,
  type ReferentialAction,
  type TableFacts,
  tableFacts,
} from '../describe/table-facts.js';
import { identifier, quotedTable } from '../execute/sql/sql-fragment.js';
import { withArticle } from '../util/with-article.js';

/** Why the key of a resource is none of its table. The key of a view or a foreign table is trusted: its database cannot promise it. */
export function keyProblems({
  info,
  endpoints,
  isKeyGiven,
  access,
}: Pick<ResourcePlan, 'info' | 'endpoints' | 'isKeyGiven' | 'access'>): string[] {
  const { model, name, primaryKey, address } = info;
  const facts = tableFacts(model);
  if (!facts || primaryKey.length === 0) return [];
  const table = quotedTable(model);
  for (const { name: attribute, column } of primaryKey)
    if (!facts.columns.has(column)) {
      return [
        `${name}.${attribute}: the table ${table} has no column ${identifier(column)}, which is ${partOf(primaryKey)} of the model; ` +
          (isAddedKey(model, attribute)
            ? `Sequelize adds it to a model without a key: give @PrimaryKey to the attributes that are unique together, or list the rows ` +
              `without one (endpoints: ['list'], defaultSort), behind ${name}.removeAttribute('${attribute}') before bootstrap.`
            : 'add it by a migration, or declare another attribute with @PrimaryKey.'),
      ];
    }
  const made = address.find(isGenerated);
  if (endpoints.has('replace') && isKeyGiven && made) {
    return [
      `${name}: endpoints has 'replace', and the table ${table} makes the key ${identifier(made.column)} of every new record by itself; say so in the model, as by autoIncrement: true, or leave it out.`,
    ];
  }
  const ofAddress = address.some(({ isAddress }) => isAddress) ? addressProblems(info, facts, access) : [];
  if (ofAddress.length > 0) return ofAddress;
  if (!facts.isTable) return [];
  const [head, columns] = [`${name}.${keyText(primaryKey)}`, listOf(primaryKey)];
  return [
    ...(isUniqueKey(facts, columnsOf(primaryKey))
      ? []
      : [
          `${head}: no unique index or constraint of the table ${table} is over ${columns} ${alone(primaryKey)}, so that a request for one ` +
            `record would read, change or delete several; CREATE UNIQUE INDEX ON ${table} (${columns}); where its values are unique, ${choiceOf(info, facts)}.`,
        ]),
    ...emptyColumns(primaryKey, facts).map(
      (column) =>
        `${head}: the column ${column} of the table ${table}, which is ${partOf(primaryKey)} of the model, may be NULL, so that no list by cursor and ` +
        `no export would have such records; ALTER TABLE ${table} ALTER COLUMN ${column} SET NOT NULL; or give @PrimaryKey to an attribute that is ` +
        'unique and never NULL.',
    ),
  ];
}

/** The columns of a key without a value in some rows. */
function emptyColumns(key: RowKey, { columns }: TableFacts): string[] {
  return key
    .filter(({ column }) => columns.get(column)?.notNull === false)
    .map(({ column }) => identifier(column));
}

function partOf(key: RowKey): string {
  return key.length === 1 ? 'the key' : 'a part of the key';
}

function alone(key: RowKey): string {
  return key.length === 1 ? 'alone' : 'exactly';
}

function columnsOf(key: RowKey): string[] {
  return key.map(({ column }) => column);
}

function listOf(key: RowKey): string {
  return columnsOf(key).map(identifier).join(', ');
}

/** The end of a sentence: keys that the table has. */
function choiceOf(info: ModelInfo, facts: TableFacts): string {
  const others = uniqueAttributes(info);
  if (others.length > 0) return `give @PrimaryKey to ${others.join(' or ')} instead, which is unique`;
  const byColumn = new Map([...info.attributes.values()].map(({ column, name }) => [column, name]));
  const several = facts.exactKeys
    .filter(
      (key) => key.length > 1 && key.every((each) => byColumn.has(each) && facts.columns.get(each)?.notNull),
    )
    .map((key) => key.map((each) => `'${byColumn.get(each)}'`).join(' and '));
  if (several.length > 0)
    return `or give @PrimaryKey to ${several.join(', or to ')}, which are unique together`;
  return 'or give @PrimaryKey to an attribute whose values are unique, such as a new identity column';
}

/** Why attributes that are no primary key address several rows, or none of some. */
function addressProblems(
  { model, name, address, attributes, primaryKey }: ModelInfo,
  facts: TableFacts,
  access: ResourcePlan['access'],
): string[] {
  const table = quotedTable(model);
  const head = `${name}: id names '${keyText(address)}', and`;
  for (const { column } of address)
    if (!facts.columns.has(column))
      return [
        `${head} the table ${table} has no column ${identifier(column)}; add it by a migration, or name another attribute.`,
      ];
  if (!facts.isTable) return [];
  const columns = listOf(address);
  const own = columnsOf(address);
  const scope = [...(access?.scope.keys() ?? [])].map((each) => attributes.get(each)?.column);
  const isPart = address.every((each) => primaryKey.includes(each));
  // Each value of the scope has rows of its own, such as those of a tenant.
  const isUnique =
    isUniqueKey({ uniqueKeys: facts.exactKeys }, own) ||
    (isPart &&
      facts.exactKeys.some(
        (key) =>
          own.every((each) => key.includes(each)) &&
          key.every((each) => own.includes(each) || scope.includes(each)),
      ));
  const mend = address.length === 1 ? ', and write unique: true in its @Column' : '';
  return [
    ...(isUnique
      ? []
      : [
          `${head} no unique index of the table ${table} is over ${columns} ${alone(address)}, so that a request for one record would read, change or ` +
            `delete several; CREATE UNIQUE INDEX ON ${table} (${columns}); where its values are unique${mend}. Indexes over some rows, over an ` +
            'expression or over more columns do not promise it, nor DEFERRABLE ones and those of another collation.',
        ]),
    ...emptyColumns(address, facts).map(
      (column) =>
        `${head} its column ${column} of the table ${table} may be NULL, so that some records would have no address; ALTER TABLE ${table} ` +
        `ALTER COLUMN ${column} SET NOT NULL; and give the attribute @AllowNull(false).`,
    ),
  ];
}

/** A line for an id of several attributes whose order is that of no index: pages are sorted by the id, and no index has them so. */
export function orderLines({ info: { model, name, address } }: Pick<ResourcePlan, 'info'>): string[] {
  const facts = tableFacts(model);
  if (!facts?.isTable || address.length < 2) return [];
  const columns = columnsOf(address);
  const sameColumns = facts.uniqueKeys.filter(
    (key) => key.length === columns.length && columns.every((each) => key.includes(each)),
  );
  const [found] = sameColumns;
  if (!found || sameColumns.some((key) => key.every((each, index) => each === columns[index]))) return [];
  const named = found.map((each) => address.find(({ column }) => column === each)?.name);
  return [
    `${name}: its id is ${keyText(address)}, and the index of the table ${quotedTable(model)} is over (${found.map(identifier).join(', ')}), which serves ` +
      `pages in another order only; write id: [${named.map((each) => `'${each}'`).join(', ')}], which changes the ids of records, or CREATE UNIQUE INDEX ON ` +
      `${quotedTable(model)} (${listOf(address)});`,
  ];
}

function uniqueAttributes({ model, attributes }: ModelInfo): string[] {
  const facts = tableFacts(model);
  return [...attributes.values()]
    .filter(
      ({ column, role, type }) =>
        role === 'data' && type.kind !== 'virtual' && facts?.columns.get(column)?.notNull,
    )
    .filter(({ column }) => facts && isUniqueKey(facts, [column]))
    .map(({ name }) => `'${name}'`);
}

/** Sequelize's types leave them out. */
interface AssociationOptions extends Association {
  readonly options?: { readonly constraints?: boolean; readonly onDelete?: string };
}

/** The models of the tables that the associations of a model join. */
export function associatedModels(model: ModelClass): readonly ModelClass[] {
  return relationsOf(model).flatMap(({ target, through }) => [target, ...(through ? [through.model] : [])]);
}

/**
 * Refuses keys that are not unique: a row belongs to one row, and its children are found by its whole key. A relation
 * to many by another attribute, such as all with the same name, joins by value, and is right.
 */
export function joinProblems(model: ModelClass): string[] {
  return relationsOf(model).flatMap((relation) => {
    const { name, parent, target, parentKey, targetKey, more, through } = relation;
    const association = `${parent.name}.${name}`;
    if (more.length > 0)
      return relation.isOne
        ? severalProblem(association, target, targetKeys(relation))
        : severalProblem(association, parent, parentKeys(relation));
    if (associationOf(relation)?.associationType === 'BelongsTo')
      return joinProblem(association, target, targetKey);
    const ends = [[parent, parentKey] as const, ...(through ? [[target, targetKey] as const] : [])];
    return ends.flatMap(([end, key]) =>
      end.primaryKeyAttributes.includes(key) ? joinProblem(association, end, key) : [],
    );
  });
}

/** A key of several attributes that may be that of several rows. */
function severalProblem(association: string, model: ModelClass, names: readonly string[]): string[] {
  const facts = tableFacts(model);
  const columns = names.map((name) => columnOf(model, name));
  if (!facts?.isTable || !columns.every((each) => facts.columns.has(each))) return [];
  if (isUniqueKey(facts, columns)) return [];
  const [table, list] = [quotedTable(model), columns.map(identifier).join(', ')];
  return [
    `${association} joins by ${names.join(', ')} of ${model.name}, and no unique index or constraint of the table ${table} is over (${list}), so that ` +
      `records would be joined with those of others; CREATE UNIQUE INDEX ON ${table} (${list}); where its values are unique, or name other attributes.`,
  ];
}

function joinProblem(association: string, model: ModelClass, key: string): string[] {
  const facts = tableFacts(model);
  const column = columnOf(model, key);
  // A column that is missing is a line of its own.
  if (!facts?.isTable || !facts.columns.has(column) || isUniqueKey(facts, [column])) return [];
  const [table, name] = [quotedTable(model), identifier(column)];
  return [
    `${association} joins by ${model.name}.${key}, and no unique index or constraint of the table ${table} is over ${name} alone, so that ` +
      `records would be joined with those of others; CREATE UNIQUE INDEX ON ${table} (${name}); where its values are unique, or give the ` +
      'association a key that is (targetKey, sourceKey). A key of several columns is no association: use @BelongsToKey and @HasManyKey of ' +
      'crud-controllers.',
  ];
}

/** A line for each foreign key that does something else with the rows of one that goes than the models say. */
export function constraintLines(model: ModelClass): string[] {
  return relationsOf(model).flatMap((relation) => {
    if (relation.through || relation.more.length > 0) return [];
    const isBelow = associationOf(relation)?.associationType === 'BelongsTo';
    const { parent, target, parentKey, targetKey } = relation;
    const edge = isBelow
      ? { child: parent, foreignKey: parentKey, parent: target, key: targetKey }
      : { child: target, foreignKey: targetKey, parent, key: parentKey };
    const constraint = constraintOf(edge);
    return constraint ? disagreements(edge, constraint) : [];
  });
}

interface Edge {
  readonly child: ModelClass;
  readonly foreignKey: string;
  readonly parent: ModelClass;
  readonly key: string;
}

function constraintOf({ child, foreignKey, parent, key }: Edge): ForeignKeyFacts | undefined {
  const id = tableFacts(parent)?.id;
  const isOver = (columns: readonly string[], column: string) =>
    columns.length === 1 && columns[0] === column;
  return tableFacts(child)?.foreignKeys.find(
    ({ target, columns, targetColumns }) =>
      target === id &&
      isOver(columns, columnOf(child, foreignKey)) &&
      isOver(targetColumns, columnOf(parent, key)),
  );
}

function disagreements(edge: Edge, { name, onDelete }: ForeignKeyFacts): string[] {
  const said = statementsOf(edge);
  const { child, parent, foreignKey } = edge;
  const effects: Readonly<Record<string, string>> = {
    CASCADE: `deletes its records of ${child.name}, too`,
    refused: `that has records of ${child.name} is refused`,
  };
  const effect = effects[effectOf(onDelete)] ?? `empties ${child.name}.${foreignKey}`;
  const follows =
    `the constraint ${identifier(name)} of the table ${quotedTable(child)} has ON DELETE ${onDelete}, so that DELETE of ` +
    `${withArticle(parent.name)} ${effect}; say the same in both.`;
  const wrong = said.filter(({ action }) => effectOf(action) !== effectOf(onDelete));
  if (said.length > 0)
    return wrong.map(
      ({ association, action }) => `${association}: its onDelete is ${action}, and ${follows}`,
    );
  const own = child.getAttributes()[foreignKey] as { readonly onDelete?: string } | undefined;
  // Without `onDelete` in the model, only a key that deletes rows is a problem.
  if (onDelete !== 'CASCADE' || own?.onDelete?.toUpperCase() === 'CASCADE') return [];
  return [`${child.name}.${foreignKey}: no association of it has an onDelete, and ${follows}`];
}

function effectOf(action: ReferentialAction): string {
  return action === 'NO ACTION' || action === 'RESTRICT' ? 'refused' : action;
}

/** Each `onDelete` that associations of both models declare. */
function statementsOf({ child, parent, foreignKey }: Edge) {
  const isNullable = child.getAttributes()[foreignKey]?.allowNull !== false;
  const below = Object.values(child.associations).filter(
    (each) => each.associationType === 'BelongsTo' && each.target === parent,
  );
  const above = Object.values(parent.associations).filter(
    (each) => ['HasOne', 'HasMany'].includes(each.associationType) && each.target === child,
  );
  return [...below, ...above].flatMap((each) => {
    const { constraints } = (each as AssociationOptions).options ?? {};
    const action = declaredAction(each, isNullable);
    if (each.foreignKey !== foreignKey || constraints === false || action === undefined) return [];
    return [{ association: `${each.source.name}.${each.as}`, action }];
  });
}

/** Sequelize fills in one for a `BelongsTo` and a `HasOne` without it; a decorator keeps the declared option. */
function declaredAction(association: AssociationOptions, isNullable: boolean): ReferentialAction | undefined {
  const { as, associationType, options, source } = association;
  const action = options?.onDelete?.toUpperCase() as ReferentialAction | undefined;
  const decorated = getAssociations(source.prototype)?.find((each) => each.getAs() === as);
  if (decorated) return Object(Reflect.get(decorated, 'options')).onDelete && action;
  const filledIn: Readonly<Record<string, readonly (string | undefined)[]>> = {
    BelongsTo: [isNullable ? 'SET NULL' : 'NO ACTION'],
    HasOne: ['SET NULL', 'CASCADE'],
  };
  return filledIn[associationType]?.includes(action) ? undefined : action;
}

function relationsOf(model: ModelClass): Relation[] {
  return relationNames(model).flatMap((name) => describeRelation(model, name).relation ?? []);
}

function associationOf({ parent, name }: Relation): Association | undefined {
  return parent.associations[name];
}

function columnOf(model: ModelClass, attribute: string): string {
  return model.getAttributes()[attribute]?.field ?? attribute;
}
