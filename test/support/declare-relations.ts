/** Random models -> classes of Sequelize's, with the options of their resources. */
import { Exclude } from 'class-transformer';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import { BelongsTo, BelongsToMany, Column, HasMany, HasOne, Model, Table } from 'sequelize-typescript';
import { Crud, type IncludeOptions, type ModelClass } from '../../src/index.js';
import { UNGUARDED } from './combination.js';
import { type AnyModel, type AnyRelation, KEYS, PAGE_MAX } from './random-relations.js';

/** The classes of a world: those that are served, and all. */
export function declareWorld(models: readonly AnyModel[]): { served: ModelClass[]; all: ModelClass[] } {
  const classes = new Map(
    models.map((model) => [model, { [model.name]: class extends Model {} }[model.name] as ModelClass]),
  );
  const classOf = (model: AnyModel): ModelClass => classes.get(model) as ModelClass;
  const joins: ModelClass[] = [];
  for (const model of models) {
    const { prototype } = classOf(model);
    for (const { name, type } of model.attributes) {
      const key = { primaryKey: name === 'id', unique: name === 'code' };
      Column({ type: type as never, field: `the ${name}`, ...key })(prototype, name);
      if (model.hidden.has(name)) Exclude()(prototype, name);
    }
    for (const relation of model.relations) declareRelation(prototype, relation, model, classOf, joins);
    tableOf(classOf(model), model.name, model.isParanoid);
    if (!model.isPlain) Crud(optionsOf(model))(classOf(model));
  }
  const served = models.filter(({ isServed }) => isServed).map(classOf);
  return { served, all: [...models.map(classOf), ...joins] };
}

function tableOf(model: ModelClass, name: string, paranoid: boolean): void {
  const tableName = `${name} rows`;
  Table({ tableName, timestamps: paranoid, createdAt: false, updatedAt: false, paranoid })(model);
}

function declareRelation(
  prototype: object,
  { name, association, target, foreignKey, isByCode, isNarrow, join }: AnyRelation,
  model: AnyModel,
  classOf: (model: AnyModel) => ModelClass,
  joins: ModelClass[],
): void {
  const type = () => classOf(target) as never;
  const scope = isNarrow ? { scope: { kind: 'x' } } : {};
  const by = { as: name, foreignKey: foreignKey ?? 'fromKey', constraints: false, ...scope };
  const code = isByCode ? 'code' : 'id';
  if (association === 'belongsTo') BelongsTo(type, { ...by, targetKey: code })(prototype as never, name);
  if (association === 'hasOne') HasOne(type, { ...by, sourceKey: code })(prototype as never, name);
  if (association === 'hasMany') HasMany(type, { ...by, sourceKey: code })(prototype as never, name);
  if (!join) return;
  const between = { [join.name]: class extends Model {} }[join.name] as ModelClass;
  Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true })(between.prototype, 'id');
  Column({ type: KEYS[model.key].type as never, field: 'from it' })(between.prototype, 'fromKey');
  Column({ type: KEYS[target.key].type as never, field: 'to it' })(between.prototype, 'toKey');
  for (const each of ['kind', 'owner']) Column({ type: DataTypes.TEXT })(between.prototype, each);
  tableOf(between, join.name, join.isParanoid);
  if (join.isScoped) Crud({ scope: { owner: tenant } } as object)(between);
  joins.push(between);
  const through = {
    model: () => between as never,
    unique: false,
    ...(join.isNarrow ? { scope: { kind: 'x' } } : {}),
  };
  BelongsToMany(type, { ...by, otherKey: 'toKey', through })(prototype as never, name);
}

const tenant = (request: Request) => request.get('tenant');

function optionsOf(model: AnyModel): object {
  const include = [...model.include].map(([path, size]): [string, IncludeOptions] => [
    path,
    { ...UNGUARDED, ...(size ? { size } : {}) },
  ]);
  return {
    prefix: `/${model.name}`,
    pageSize: { default: 5, max: PAGE_MAX },
    defaultSort: model.defaultSort,
    filterAllow: ['whole', 'text'],
    sortAllow: ['id', 'whole', 'text'],
    ...(model.isScoped ? { scope: { owner: tenant } } : {}),
    ...(model.isServed ? { include: Object.fromEntries(include) } : {}),
  };
}
