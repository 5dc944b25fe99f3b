/** A country, under its ISO 3166-1 alpha-3 code. */
import { Length, Matches } from 'class-validator';
import { Crud } from 'crud-controllers';
import { literal } from 'sequelize';
import { Column, DataType, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { City } from './city.js';

/** The regions of the data. */
export const REGIONS = ['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania'] as const;

/** A region of the data. */
export type Region = (typeof REGIONS)[number];

@Crud({
  tags: ['Countries'],
  description: 'Countries, under their ISO 3166-1 alpha-3 codes.',
  pageSize: { default: 50, max: 250 },
  filterAllow: {
    code: true,
    name: true,
    region: true,
    subregion: true,
    area: true,
    independent: true,
    borders: true,
    // The database has no type for a member of JSON, so it is named here.
    'languages.fra': 'string',
  },
  sortAllow: ['code', 'name', 'region', 'area'],
  etag: 'xmin',
  include: { cities: { size: { default: 5, max: 20 } } },
  subresources: ['cities'],
  // The client chooses the code, so `PUT` can create a country.
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'delete'],
})
@Table({
  tableName: 'countries',
  underscored: true,
  timestamps: false,
  indexes: [
    { fields: ['name'] },
    { fields: ['region'] },
    { fields: ['subregion'] },
    { fields: ['area'] },
    { fields: ['independent'] },
    // The elements of an array are in a GIN index.
    { fields: ['borders'], using: 'gin' },
    { fields: [literal("(languages ->> 'fra')")], name: 'countries_french' },
  ],
})
export class Country extends Model {
  @Matches(/^[A-Z]{3}$/, { message: '$property must be three capital letters' })
  @PrimaryKey
  @Column(DataType.STRING(3))
  declare code: string;

  @Length(2, 2)
  @Column({ type: DataType.STRING(2), allowNull: false, unique: true })
  declare alpha2: string;

  @Column({ type: DataType.STRING(80), allowNull: false })
  declare name: string;

  @Column({ type: DataType.STRING(120), allowNull: false })
  declare officialName: string;

  @Column({ type: DataType.ENUM(...REGIONS), allowNull: false })
  declare region: Region;

  @Column(DataType.STRING(40))
  declare subregion: string | null;

  @Column({ type: DataType.ARRAY(DataType.TEXT), allowNull: false, defaultValue: [] })
  declare capital: string[];

  @Column({ type: DataType.JSONB, allowNull: false, defaultValue: {} })
  declare languages: Record<string, string>;

  @Column({ type: DataType.JSONB, allowNull: false, defaultValue: {} })
  declare currencies: Record<string, { name: string; symbol: string }>;

  @Column({ type: DataType.ARRAY(DataType.STRING(3)), allowNull: false, defaultValue: [] })
  declare borders: string[];

  @Column({ type: DataType.DECIMAL(12, 2), allowNull: false, comment: 'In square kilometres.' })
  declare area: string;

  @Column({ type: DataType.DOUBLE, allowNull: false })
  declare latitude: number;

  @Column({ type: DataType.DOUBLE, allowNull: false })
  declare longitude: number;

  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false })
  declare landlocked: boolean;

  @Column({ type: DataType.BOOLEAN, comment: 'Null where it is disputed.' })
  declare independent: boolean | null;

  @Column({ type: DataType.STRING(8), allowNull: false })
  declare flag: string;

  /** A country with cities is not deleted. */
  @HasMany(() => City, { onDelete: 'RESTRICT' })
  declare cities?: City[];
}
