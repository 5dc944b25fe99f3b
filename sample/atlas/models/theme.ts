/** Themes of trips, such as food, and the rows that link them. */
import { Crud } from 'crud-controllers';
import {
  AutoIncrement,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Trip } from './trip.js';

@Crud({
  tags: ['Trips'],
  description: 'What trips are about, such as food.',
  filterAllow: ['id', 'name'],
  sortAllow: ['id', 'name'],
})
@Table({ tableName: 'themes', underscored: true, timestamps: false })
export class Theme extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.STRING(40), allowNull: false, unique: true })
  declare name: string;

  @BelongsToMany(
    () => Trip,
    () => TripTheme,
  )
  declare trips?: Trip[];
}

/** A link, without routes of its own. */
@Table({
  tableName: 'trip_themes',
  underscored: true,
  timestamps: false,
  indexes: [{ fields: ['theme_id'] }],
})
export class TripTheme extends Model {
  @ForeignKey(() => Trip)
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare tripId: number;

  @ForeignKey(() => Theme)
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare themeId: number;
}
