/** A review of a city. A deleted review is kept, and a change over an unseen change is refused. */
import { Max, Min } from 'class-validator';
import { Crud } from 'crud-controllers';
import {
  AutoIncrement,
  BelongsTo,
  Column,
  CreatedAt,
  DataType,
  DeletedAt,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
  UpdatedAt,
} from 'sequelize-typescript';
import { City } from './city.js';

@Crud({
  tags: ['Reviews'],
  description: 'What people think of cities, the newest first.',
  // New ones come while a client reads: with cursors it sees none twice, and the last page costs what the first does.
  pagination: 'cursor',
  defaultSort: '-createdAt',
  filterAllow: ['id', 'cityId', 'author', 'rating', 'createdAt'],
  sortAllow: ['id', 'rating', 'createdAt'],
  include: { city: true, 'city.country': true },
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    'delete',
    'restore',
    'purge',
    'updateMany',
    'deleteMany',
    'history',
    'revert',
  ],
  // A history with actors, and a feed: the list of the back office follows it.
  history: true,
  changes: true,
  // All clients may list deleted reviews, and read their history. An application would check the user here.
  can: { deleted: true, history: true },
})
@Table({
  tableName: 'reviews',
  underscored: true,
  paranoid: true,
  version: true,
  // Each has the key at the end, so that each page is one range of an index.
  indexes: [
    { fields: ['city_id', 'created_at', 'id'] },
    { fields: ['author'] },
    { fields: ['rating', 'id'] },
    { fields: ['created_at', 'id'] },
  ],
})
export class Review extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.BIGINT)
  declare id: string;

  @ForeignKey(() => City)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare cityId: number;

  @BelongsTo(() => City, { onDelete: 'RESTRICT' })
  declare city?: City;

  @Column({ type: DataType.STRING(80), allowNull: false })
  declare author: string;

  @Min(1)
  @Max(5)
  @Column({ type: DataType.SMALLINT, allowNull: false })
  declare rating: number;

  @Column(DataType.TEXT)
  declare text: string | null;

  declare version: number;

  @CreatedAt
  declare createdAt: Date;

  @UpdatedAt
  declare updatedAt: Date;

  @DeletedAt
  declare deletedAt: Date | null;
}
