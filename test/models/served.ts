/** Models of a few columns, which tests know by the path and the table of their name. */
import type { DataType, ModelAttributeColumnOptions } from 'sequelize';
import { Column, Table, type TableOptions } from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass } from '../../src/index.js';
import { NumberedRow } from './rows.js';

/** Parts of a model beside its columns. */
export interface ServedOptions {
  readonly crud?: object;
  readonly table?: TableOptions;
  /** Default: a row that the database numbers. */
  readonly base?: abstract new () => object;
}

/** A model that is served at `/name`, of the table `name`, without timestamps. */
export function served(
  name: string,
  columns: Readonly<Record<string, DataType | ModelAttributeColumnOptions>> = {},
  { crud = {}, table = {}, base = NumberedRow }: ServedOptions = {},
): ModelClass {
  const title = name.replace(/^./, (first) => first.toUpperCase());
  const model = { [title]: class extends (base as typeof NumberedRow) {} }[title] as ModelClass;
  for (const [attribute, column] of Object.entries(columns))
    Column(column as never)(model.prototype, attribute);
  Table({ tableName: name, timestamps: false, ...table })(model);
  Crud({ prefix: `/${name}`, ...crud } as CrudOptions)(model);
  return model;
}
