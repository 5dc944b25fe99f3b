/** Makes models of what the catalogue has, as a user would write them: one class for each table, with relations both ways. */
import {
  BelongsTo,
  Column as ColumnDecorator,
  HasMany,
  Model,
  type ModelCtor,
  Table,
} from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass } from '../../src/index.js';
import type { Column, ForeignKey, Relation } from './catalogue.js';
import { ruleOf } from './wire.js';

/** A relation of a model. */
export interface Link {
  readonly name: string;
  readonly isOne: boolean;
  readonly target: Specimen;
  /** Columns of the model, and of the target, pair by pair: one, as long as there are no relations by more. */
  readonly own: string;
  readonly other: string;
}

/** A table with its model. */
export interface Specimen {
  readonly table: Relation;
  readonly name: string;
  readonly prefix: string;
  /** The columns that address a row: the key, or what was guessed for a view. */
  readonly id: readonly string[];
  readonly attributes: ReadonlyMap<string, string>;
  readonly links: Link[];
  model: ModelCtor;
}

/** Names of members that each record has. */
const TAKEN = new Set<string>();
for (let each = Model.prototype; each; each = Object.getPrototypeOf(each))
  for (const name of Object.getOwnPropertyNames(each)) TAKEN.add(name);

function camel(name: string): string {
  return name.toLowerCase() === name || /[_\s-]/.test(name)
    ? name
        .toLowerCase()
        .replace(/[^a-z0-9]+([a-z0-9])?/g, (_, sign: string | undefined) => sign?.toUpperCase() ?? '')
    : name.charAt(0).toLowerCase() + name.slice(1).replace(/\W/g, '');
}

function pascal(name: string): string {
  const word = camel(name);
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Of the last word, as far as letters say it. */
function singular(name: string): string {
  return /(ss|us|is)$/.test(name)
    ? name
    : name.replace(/ies$/, 'y').replace(/(?<=[^aeiou]s|x|ch|sh)es$|(?<=.)s$/, '');
}

/** A name that none of the others is. */
function free(name: string, others: { has(name: string): boolean }, behind = ''): string {
  let own = name;
  for (let turn = 1; others.has(own); turn += 1) own = `${name}${behind}${turn === 1 && behind ? '' : turn}`;
  return own;
}

/** Where a column is named like its relation, the attribute gets an `Id`. Sequelize takes `id` for the key alone. */
function attributesOf({ columns, foreignKeys }: Relation, id: readonly string[]): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const { name } of columns) {
    const isReference = foreignKeys.some((key) => key.columns.length === 1 && key.columns[0] === name);
    const plain = camel(name) || 'column';
    const wanted =
      isReference && relationName(name) === plain ? `${plain}Id` : /^\d/.test(plain) ? `n${plain}` : plain;
    attributes.set(
      name,
      free(
        TAKEN.has(wanted) || (wanted === 'id' && !id.includes(name)) ? `${wanted}_` : wanted,
        new Set(attributes.values()),
      ),
    );
  }
  return attributes;
}

function relationName(column: string): string {
  return camel(column.replace(/_?(id|Id|ID|code|uuid|fk)$/, '') || column);
}

/** Plans the models of all tables; `guess` finds what addresses a row of a view. */
export async function planModels(
  relations: readonly Relation[],
  guess: (table: Relation) => Promise<readonly string[]>,
): Promise<{ specimens: Specimen[]; leftOut: string[] }> {
  const specimens = new Map<string, Specimen>();
  const leftOut: string[] = [];
  for (const table of relations) {
    const names = new Set([...specimens.values()].map(({ name }) => name));
    const plain = pascal(singular(table.name));
    const name = names.has(plain) ? free(`${pascal(table.schema)}${plain}`, names) : plain;
    const id = table.key.length > 0 ? table.key : await guess(table);
    const prefix = `/${table.schema}/${table.name}`.toLowerCase().replace(/[^a-z0-9/]+/g, '-');
    specimens.set(table.sql, {
      table,
      name,
      prefix,
      id,
      attributes: attributesOf(table, id),
      links: [],
      model: Model as unknown as ModelCtor,
    });
  }
  for (const specimen of specimens.values()) {
    for (const key of specimen.table.foreignKeys) {
      const target = specimens.get(key.target);
      if (key.columns.length > 1 || !target)
        leftOut.push(
          `${specimen.name}: the foreign key (${key.columns}) to ${key.target} has several columns`,
        );
      else link(specimen, target, key);
    }
  }
  return { specimens: [...specimens.values()], leftOut };
}

function link(child: Specimen, parent: Specimen, key: ForeignKey): void {
  const [own = '', other = ''] = [key.columns[0], key.targetColumns[0]];
  const taken = ({ attributes, links }: Specimen) =>
    new Set([...attributes.values(), ...links.map(({ name }) => name), ...TAKEN]);
  const one = free(relationName(own), taken(child), 'Record');
  child.links.push({ name: one, isOne: true, target: parent, own, other });
  const plural =
    camel(child.table.name) +
    (child.links.filter(({ target }) => target === parent).length > 1 ? `By${pascal(one)}` : 'List');
  parent.links.push({
    name: free(plural, taken(parent)),
    isOne: false,
    target: child,
    own: other,
    other: own,
  });
}

/** Defines the classes anew; `optionsOf` says what `@Crud` is given, or null for a model without. */
export function defineModels(
  specimens: readonly Specimen[],
  optionsOf: (specimen: Specimen) => CrudOptions | null,
): ModelClass[] {
  for (const specimen of specimens) {
    const { [specimen.name]: made } = { [specimen.name]: class extends Model {} };
    specimen.model = made as unknown as ModelCtor;
  }
  for (const { table, id, attributes, links, model } of specimens) {
    for (const column of table.columns) {
      const attribute = attributes.get(column.name) ?? column.name;
      ColumnDecorator({
        type: ruleOf(column).model(column),
        field: column.name,
        allowNull: !column.notNull && !id.includes(column.name),
        primaryKey: id.includes(column.name),
        autoIncrement: isDrawn(table, column),
      })(model.prototype, attribute);
    }
    for (const { name, isOne, own, other, target } of links) {
      if (isOne)
        BelongsTo(() => target.model, {
          as: name,
          foreignKey: attributes.get(own) ?? own,
          targetKey: target.attributes.get(other) ?? other,
        })(model.prototype, name);
      else
        HasMany(() => target.model, {
          as: name,
          foreignKey: target.attributes.get(other) ?? other,
          sourceKey: attributes.get(own) ?? own,
        })(model.prototype, name);
    }
    Table({ tableName: table.name, schema: table.schema, timestamps: false })(model);
  }
  for (const specimen of specimens) {
    const options = optionsOf(specimen);
    if (options) Crud(options)(specimen.model);
  }
  return specimens.map(({ model }) => model);
}

/** True for the one integer of a key that the database draws. */
function isDrawn({ key, columns }: Relation, column: Column): boolean {
  const drawn = columns.find(
    ({ name, hasDefault, base }) => key.includes(name) && hasDefault && /int/.test(base),
  );
  return drawn === column;
}
