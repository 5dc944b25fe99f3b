/** One model in each of the ways that users of sequelize-typescript declare them. Never run. */
import type { CreationOptional, InferAttributes, InferCreationAttributes, NonAttribute } from 'sequelize';
import { BelongsTo, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Ref } from '../../src/index.js';

/** A model that the others refer to. */
@Table
export class Country extends Model {
  @PrimaryKey @Column(DataType.STRING(3)) declare code: string;
}

/** A model in the style of the sequelize-typescript documentation. */
@Table
export class City extends Model {
  @Column(DataType.STRING) declare name: string;
  @Column(DataType.INTEGER) declare population: number | null;
  @Column(DataType.JSONB) declare names: Record<string, string>;
  @Column(DataType.ARRAY(DataType.STRING)) declare airports: string[];
  @BelongsTo(() => Country, 'countryCode') declare country?: Ref<Country>;

  declare neighbors: Ref<City[]>;

  rename(name: string): Promise<this> {
    return this.update({ name });
  }
}

/** A model in the style of the documentation of sequelize-typescript 1. */
@Table
export class SelfCity extends Model<SelfCity> {
  declare name: string;
  declare population: number | null;
  declare country?: Country;
  declare neighbors: SelfCity[];

  rename(name: string): Promise<this> {
    return this.update({ name });
  }
}

/** A model in the style of the documentation of Sequelize 6. */
@Table
export class InferredCity extends Model<
  InferAttributes<InferredCity>,
  InferCreationAttributes<InferredCity>
> {
  declare id: CreationOptional<number>;
  declare name: string;
  declare population: number | null;
  declare country?: NonAttribute<Country>;

  rename(name: string): Promise<this> {
    return this.update({ name });
  }
}

/** The attributes of `TypedCity`. */
export interface CityAttributes {
  id: number;
  name: string;
  population: number | null;
}

/** With an interface of its own. */
@Table
export class TypedCity extends Model<CityAttributes, Omit<CityAttributes, 'id'>> implements CityAttributes {
  declare id: number;
  declare name: string;
  declare population: number | null;
}
