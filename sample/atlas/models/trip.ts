/** A trip through cities. Its stops are written with it, and its themes are links. */
import { Crud } from 'crud-controllers';
import {
  AutoIncrement,
  BelongsToMany,
  Column,
  DataType,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Stop } from './stop.js';
import { Theme, TripTheme } from './theme.js';

@Crud({
  tags: ['Trips'],
  description: 'Trips through cities, with their stops.',
  filterAllow: ['id', 'title'],
  sortAllow: ['id', 'title'],
  include: { stops: { size: { default: 50, max: 50 } } },
  // One request writes a trip and its stops. A change of a stop counts the version of its trip.
  nested: { stops: { max: 50 } },
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

  @HasMany(() => Stop, { onDelete: 'CASCADE' })
  declare stops?: Stop[];

  @BelongsToMany(
    () => Theme,
    () => TripTheme,
  )
  declare themes?: Theme[];

  declare version: number;
}
