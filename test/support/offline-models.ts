/** Models and plans without a database: Sequelize describes a model completely before it connects. */
import { type ModelAttributes, type ModelOptions, Sequelize } from 'sequelize';
import { type ModelCtor, Sequelize as TypescriptSequelize } from 'sequelize-typescript';
import { compilePlan } from '../../src/compile/compile-plan.js';
import { compileResource, type DecoratorReader } from '../../src/compile/compile-resource.js';
import type { ResourceDeclaration, ResourcePlan } from '../../src/compile/resource-plan.js';
import type { CrudOptions, ModelClass } from '../../src/declare/crud-options.js';
import { introspectModel } from '../../src/describe/describe-model.js';
import type { ModelInfo } from '../../src/describe/model-info.js';
import { decoratorProblems, nestedProblems } from '../../src/schema/attribute-decorators.js';
import { classProperties } from '../../src/schema/class-properties.js';
import { describeExposure, isTransformed } from '../../src/schema/model-decorators.js';
import { parseIdText } from '../../src/schema/wire-value.js';
import { ConfigError } from '../../src/util/config-error.js';

/** Facts about them for the phases before the schemas. */
export const decoratorReader: DecoratorReader = {
  describeExposure,
  isTransformed,
  classProperties,
  nestedProblems,
  decoratorProblems,
  readText: parseIdText,
};

/** Defines a model without decorators; without timestamps unless the options set them. */
export function defineModel(
  name: string,
  attributes: ModelAttributes = {},
  options: ModelOptions = {},
): ModelClass {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  return sequelize.define(name, attributes, { timestamps: false, ...options });
}

/** Attaches decorated models to a Sequelize instance that never connects, and returns the first one. */
export function attach<M extends ModelCtor>(model: M, ...others: readonly ModelCtor[]): M {
  const sequelize = new TypescriptSequelize({ dialect: 'postgres', logging: false });
  sequelize.addModels([model, ...others]);
  return model;
}

/** The description of a model that is right. */
export function infoOf(model: ModelClass): ModelInfo {
  const { info, problems } = introspectModel(model);
  if (!info) throw new ConfigError(problems);
  return info;
}

/** The plan of a resource whose options may be wrong on purpose. */
export function planOf(model: ModelClass, options: object = {}): ResourcePlan {
  const { plan, problems } = compileResource({ model, options: options as CrudOptions }, decoratorReader);
  if (!plan) throw new ConfigError(problems);
  return plan;
}

/** Everything that is wrong with a resource whose options are wrong on purpose. */
export function problemsOf(model: ModelClass, options: object = {}): readonly string[] {
  return compileResource({ model, options: options as CrudOptions }, decoratorReader).problems;
}

/** Everything that is wrong with resources of one application. */
export function problemsOfAll(declarations: readonly ResourceDeclaration[]): readonly string[] {
  try {
    compilePlan(declarations, decoratorReader);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
