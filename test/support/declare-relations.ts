/** Random models -> classes of Sequelize's, with the options of their resources. */
import { Exclude } from 'class-transformer';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DefaultScope,
  HasMany,
  HasOne,
  Model,
  Table,
} from 'sequelize-typescript';
import { type CountOptions, Crud, filter, type IncludeOptions, type ModelClass } from '../../src/index.js';
import {
  type AnyCount,
  type AnyFilters,
  type AnyModel,
  type AnyRelation,
  KEYS,
  PAGE_MAX,
  PAGE_SIZE,
  relationOf,
} from './any-model.js';
import { UNGUARDED } from './combination.js';

/** The classes of a world: those that are served, and all. */
export function declareWorld(models: readonly AnyModel[]): { served: ModelClass[]; all: ModelClass[] } {
  const classes = new Map(
    models.map((model) => [model, { [model.name]: class extends Model {} }[model.name] as ModelClass]),
  );
  const classOf = (model: AnyModel): ModelClass => classes.get(model) as ModelClass;
  const joins: ModelClass[] = [];
  for (const model of models) {
    const { prototype } = classOf(model);
    for (const { name, kind } of model.attributes) {
      const key = { primaryKey: name === 'id', unique: name === 'code' };
      Column({ type: kind.type, field: `the ${name}`, ...key })(prototype, name);
      if (model.hidden.has(name)) Exclude()(prototype, name);
    }
    for (const relation of model.relations) declareRelation(prototype, relation, model, classOf, joins);
    tableOf(classOf(model), model.name, model.isParanoid);
    if (model.isUsual) DefaultScope(() => ({ where: { kind: 'x' } }))(classOf(model));
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
  Column({ type: KEYS[model.key].type, field: 'from it' })(between.prototype, 'fromKey');
  Column({ type: KEYS[target.key].type, field: 'to it' })(between.prototype, 'toKey');
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

const OF_KIND = { where: () => filter`kind==x` };

function optionsOf(model: AnyModel): object {
  return {
    prefix: `/${model.name}`,
    pageSize: { default: PAGE_SIZE, max: PAGE_MAX },
    pagination: model.pagination,
    defaultSort: model.defaultSort,
    filterAllow: filterOption(model, model.filters),
    sortAllow: ['id', 'whole', 'text'],
    ...countOption(model.count),
    ...(model.isScoped ? { scope: { owner: tenant } } : {}),
    ...(model.isJudged ? { visible: () => filter`whole!=7` } : {}),
    ...(model.isServed ? relationOptions(model) : {}),
  };
}

function countOption(count: AnyCount | null): { count?: CountOptions } {
  return count ? { count } : {};
}

function relationOptions(model: AnyModel): object {
  const include = [...model.include].map(([path, { size, count, isRuled }]): [string, IncludeOptions] => [
    path,
    { ...UNGUARDED, ...(size ? { size } : {}), ...countOption(count), ...(isRuled ? OF_KIND : {}) },
  ]);
  const subresources = [...model.subresources].map(([name, isRuled]) => [
    name,
    isRuled ? OF_KIND : UNGUARDED,
  ]);
  return {
    include: { ...unguarded(model), ...Object.fromEntries(include) },
    subresources: Object.fromEntries(subresources),
  };
}

/** Relations that are filtered by, and not included: where code guards their rows, `include` has to say who sees them. */
function unguarded({ filters, include }: AnyModel): Readonly<Record<string, IncludeOptions>> {
  if (UNGUARDED.where === undefined) return {};
  const paths = [...filters.relations].flatMap(([name, { relations }]) => [
    name,
    ...[...relations.keys()].map((each) => `${name}.${each}`),
  ]);
  return Object.fromEntries(paths.filter((path) => !include.has(path)).map((path) => [path, UNGUARDED]));
}

/** The option `filterAllow`, in the form that each relation has. */
function filterOption(model: AnyModel, { names, relations }: AnyFilters): object {
  const said: [string, unknown][] = names.map((name) => [name, true]);
  for (const [name, behind] of relations) {
    const { target } = relationOf(model, name);
    const within = Object.keys(filterOption(target, behind));
    if (behind.form === 'all') said.push([name, true]);
    else if (behind.form === 'dotted') for (const each of within) said.push([`${name}.${each}`, true]);
    else if (behind.form === 'list') said.push([name, within]);
    else said.push([name, Object.fromEntries(within.map((each) => [each, true]))]);
  }
  return Object.fromEntries(said);
}
