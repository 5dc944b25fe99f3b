/** A trip through cities. Its themes are links. */
import { Crud } from 'crud-controllers';
import {
  AutoIncrement,
  BelongsToMany,
  Column,
  DataType,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Theme, TripTheme } from './theme.js';

@Crud({
  tags: ['Trips'],
  description: 'Trips through cities.',
  filterAllow: ['id', 'title'],
  sortAllow: ['id', 'title'],
  links: { themes: true },
})
@Table({
  tableName: 'trips',
  underscored: true,
  timestamps: false,
  version: true,
  indexes: [{ fields: ['title', 'id'] }],
})
export class Trip extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.STRING(80), allowNull: false })
  declare title: string;

  @BelongsToMany(
    () => Theme,
    () => TripTheme,
  )
  declare themes?: Theme[];

  declare version: number;
}
