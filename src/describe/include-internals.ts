/** Untyped fields of Sequelize's includes. An accessor throws where a field is missing. */
import { type IncludeOptions, type Model, type ModelStatic, Utils } from 'sequelize';
import { partOf } from './sequelize-internals.js';

/**
 * Notes on a record that a relation was loaded along, for its plain forms. Not for `reload`, which would read all rows of the
 * relation: it repeats the includes of the query.
 */
export function noteInclude(record: Model, as: string): void {
  const { _options: options } = partOf<{ _options: NotedIncludes }>(record, 'record', '_options');
  const association = (record.constructor as ModelStatic<Model>).associations[as];
  options.include = (options.include ?? []).filter((each) => each.as !== as);
  options.includeNames = [...new Set([...(options.includeNames ?? []), as])];
  options.includeMap = { ...options.includeMap, [as]: { as, association, model: association?.target } };
}

interface NotedIncludes {
  include?: { readonly as: string; readonly [name: string]: unknown }[];
  includeNames?: string[];
  includeMap?: object;
}

/** A relation that a query loads along, as Sequelize understands it. */
export interface ConformedInclude extends IncludeOptions {
  model: ModelStatic<Model>;
  include?: ConformedInclude[];
  /** True where the relation is joined by its keys or by its condition. Sequelize's types leave it out. */
  or?: boolean;
}

/** The relations of a query, in any of Sequelize's forms, each with its model. */
export function conformedIncludes(model: object, include: unknown): ConformedInclude[] {
  const options: { include?: ConformedInclude[] } = {
    include: Utils.cloneDeep([include].flat() as object) as ConformedInclude[],
  };
  const internals = partOf<IncludingModel>(model, 'Model', '_conformIncludes _expandIncludeAll');
  internals._conformIncludes(options, model);
  internals._expandIncludeAll(options);
  return options.include ?? [];
}

interface IncludingModel {
  _conformIncludes(options: object, model: object): void;
  _expandIncludeAll(options: object): void;
}
