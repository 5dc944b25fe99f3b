/** Keys that do not address one row, and foreign keys that do something else in the database than in the model. */

import type { Association } from 'sequelize';
import { getAssociations } from 'sequelize-typescript';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import { isGenerated, type ModelInfo } from '../describe/model-info.js';
import { describeRelation, type Relation, relationNames } from '../describe/relations.js';
import { only } from '../describe/row-key.js';
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
}: Pick<ResourcePlan, 'info' | 'endpoints' | 'isKeyGiven'>): string[] {
  const { model, name } = info;
  const [primaryKey, address] = [only(info.primaryKey), only(info.address)];
  const facts = tableFacts(model);
  if (!facts) return [];
  const table = quotedTable(model);
  const column = identifier(primaryKey.column);
  if (!facts.columns.has(primaryKey.column)) {
    return [
      `${name}.${primaryKey.name}: the table ${table} has no column ${column}, which is the key of the model; add it by a migration, or ` +
        `declare another attribute with @PrimaryKey.`,
    ];
  }
  if (endpoints.has('replace') && isKeyGiven && isGenerated(address)) {
    const own = identifier(address.column);
    return [
      `${name}: endpoints has 'replace', and the table ${table} makes the key ${own} of every new record by itself; say so in the model, as by autoIncrement: true, or leave it out.`,
    ];
  }
  const ofAddress = info.address === info.primaryKey ? [] : addressProblems(info, facts);
  if (ofAddress.length > 0) return ofAddress;
  if (!facts.isTable || isUniqueKey(facts, [primaryKey.column])) return [];
  const others = uniqueAttributes(info);
  const choice =
    others.length > 0
      ? `give @PrimaryKey to ${others.join(' or ')} instead, which is unique`
      : 'or give @PrimaryKey to an attribute whose values are unique, such as a new identity column';
  return [
    `${name}.${primaryKey.name}: no unique index or constraint of the table ${table} is over ${column} alone, so that a request for one ` +
      `record would read, change or delete several; CREATE UNIQUE INDEX ON ${table} (${column}); where its values are unique, ${choice}. ` +
      'A key of several columns cannot address a record yet; a view with such a column can be read in the place of its table.',
  ];
}

/** Why an attribute that is no primary key addresses several rows, or none of some. */
function addressProblems({ model, name, address: key }: ModelInfo, facts: TableFacts): string[] {
  const address = only(key);
  const table = quotedTable(model);
  const column = identifier(address.column);
  const own = facts.columns.get(address.column);
  const head = `${name}: id names '${address.name}', and`;
  if (!own)
    return [
      `${head} the table ${table} has no column ${column}; add it by a migration, or name another attribute.`,
    ];
  if (!facts.isTable) return [];
  const isUnique = isUniqueKey({ uniqueKeys: facts.exactKeys }, [address.column]);
  return [
    ...(isUnique
      ? []
      : [
          `${head} no unique index of the table ${table} is over ${column} alone, so that a request for one record would read, change or ` +
            `delete several; CREATE UNIQUE INDEX ON ${table} (${column}); where its values are unique, and write unique: true in its @Column. Indexes over some rows, over an ` +
            'expression or over more columns do not promise it, nor DEFERRABLE ones and those of another collation.',
        ]),
    ...(own.notNull
      ? []
      : [
          `${head} its column ${column} of the table ${table} may be NULL, so that some records would have no address; ALTER TABLE ${table} ` +
            `ALTER COLUMN ${column} SET NOT NULL; and give the attribute @AllowNull(false).`,
        ]),
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
    const { name, parent, target, parentKey, targetKey, through } = relation;
    const association = `${parent.name}.${name}`;
    if (associationOf(relation)?.associationType === 'BelongsTo')
      return joinProblem(association, target, targetKey);
    const ends = [[parent, parentKey] as const, ...(through ? [[target, targetKey] as const] : [])];
    return ends.flatMap(([end, key]) =>
      end.primaryKeyAttributes.includes(key) ? joinProblem(association, end, key) : [],
    );
  });
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
      'association a key that is (targetKey, sourceKey), or remove it and read the rows by a filter. Keys of several columns are no ' +
      'associations yet.',
  ];
}

/** A line for each foreign key that does something else with the rows of one that goes than the models say. */
export function constraintLines(model: ModelClass): string[] {
  return relationsOf(model).flatMap((relation) => {
    if (relation.through) return [];
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
  // Where nothing is said, only what deletes is told.
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

/** Sequelize fills in one for a `BelongsTo` and a `HasOne` without it; a decorator keeps what was declared. */
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
