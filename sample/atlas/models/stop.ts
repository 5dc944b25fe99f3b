/** A stop of a trip, which belongs to it for good. */
import { Min } from 'class-validator';
import { Crud } from 'crud-controllers';
import {
  AutoIncrement,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { City } from './city.js';
import { Trip } from './trip.js';

@Crud({
  tags: ['Trips'],
  description: 'Stops of trips, in the order of their days.',
  filterAllow: ['tripId', 'cityId'],
  defaultSort: 'day,id',
})
@Table({
  tableName: 'stops',
  underscored: true,
  timestamps: false,
  indexes: [{ fields: ['trip_id', 'day', 'id'] }, { fields: ['city_id'] }, { fields: ['day', 'id'] }],
})
export class Stop extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @ForeignKey(() => Trip)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare tripId: number;

  @BelongsTo(() => Trip, { onDelete: 'CASCADE' })
  declare trip?: Trip;

  @ForeignKey(() => City)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare cityId: number;

  @BelongsTo(() => City, { onDelete: 'RESTRICT' })
  declare city?: City;

  @Min(1)
  @Column({
    type: DataType.INTEGER,
    allowNull: false,
    comment: 'The day of the trip on which it begins, from 1.',
  })
  declare day: number;

  @Min(1)
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 })
  declare nights: number;
}
