/** A city of at least a thousand people, under its GeoNames id. */
import { IsLatitude, IsLongitude, Min } from 'class-validator';
import { Crud } from 'crud-controllers';
import {
  BelongsTo,
  Column,
  DataType,
  Default,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Country } from './country.js';
import { Review } from './review.js';

@Crud({
  tags: ['Cities'],
  description: 'Cities of at least a thousand people, under their GeoNames ids.',
  filterAllow: {
    // Some cities by their ids, in one request.
    id: ['==', '=in='],
    // Only what the index on the names can answer, and one that it cannot.
    name: ['==', '=in=', '=like=', '=ilike='],
    countryCode: ['==', '=in='],
    featureCode: ['==', '=in='],
    population: true,
    latitude: true,
    longitude: true,
    'country.region': true,
    reviews: ['rating', 'author'],
  },
  // The seed makes the index of trigrams that serves it.
  search: ['name'],
  sortAllow: ['id', 'name', 'population'],
  // Numbers of cities and people by country, for a page of figures.
  aggregate: {
    group: ['countryCode', 'featureCode'],
    sum: ['population'],
    avg: ['population'],
    max: ['population', 'latitude'],
    countDistinct: ['countryCode'],
  },
  // The tag of a record in a table without a version: a client that has not seen a change cannot overwrite it.
  etag: 'xmin',
  // The rules of countries and reviews hold: a deleted review is in no answer.
  include: { country: true, reviews: { size: { default: 3, max: 20 } } },
  subresources: ['reviews'],
  // All 140,000 as a file: /cities?format=csv
  export: ['csv', 'ndjson'],
  // And back: POST /cities/import?mode=upsert&dry_run=true
  import: { modes: ['create', 'update', 'upsert'] },
  upsert: [['id']],
  // `POST /cities/many` takes an array.
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany'],
})
@Table({
  tableName: 'cities',
  underscored: true,
  timestamps: false,
  indexes: [
    { fields: ['name'] },
    { fields: ['population'] },
    { fields: ['country_code', 'id'] },
    { fields: ['country_code', 'population'] },
    { fields: ['feature_code'] },
    { fields: ['latitude'] },
    { fields: ['longitude'] },
  ],
})
export class City extends Model {
  /** An id of GeoNames, so the client sends it. */
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.STRING(200), allowNull: false })
  declare name: string;

  @ForeignKey(() => Country)
  @Column({ type: DataType.STRING(3), allowNull: false })
  declare countryCode: string;

  @BelongsTo(() => Country, { onDelete: 'RESTRICT' })
  declare country?: Country;

  /** A city with reviews is not deleted, nor one whose reviews are only marked as deleted. */
  @HasMany(() => Review, { onDelete: 'RESTRICT' })
  declare reviews?: Review[];

  @Min(0)
  @Default(0)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare population: number;

  @IsLatitude()
  @Column({ type: DataType.DOUBLE, allowNull: false })
  declare latitude: number;

  @IsLongitude()
  @Column({ type: DataType.DOUBLE, allowNull: false })
  declare longitude: number;

  @Column({
    type: DataType.STRING(10),
    allowNull: false,
    comment: 'What kind of place it is, such as PPLC for a capital.',
  })
  declare featureCode: string;

  /** The first-order division, within the country. */
  @Column(DataType.STRING(20))
  declare adminCode: string | null;

  /** The second-order division, within the first. */
  @Column(DataType.STRING(20))
  declare municipalityCode: string | null;
}
