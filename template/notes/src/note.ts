/** A note: a table, and the resource `/notes`. */
import { Length, Max, Min } from 'class-validator';
import { Crud } from 'crud-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';

@Crud({
  description: 'What is to be remembered.',
  // Attributes that clients may filter and sort by. Each needs an index, in the model and in a migration.
  filterAllow: ['title', 'stars'],
  sortAllow: ['title', 'stars'],
})
@Table({ tableName: 'notes', underscored: true, version: true, indexes: [{ fields: ['stars', 'id'] }] })
export class Note extends Model {
  @Length(3, 80)
  @Column({ type: DataType.STRING(80), allowNull: false, unique: true })
  declare title: string;

  @Min(0)
  @Max(5)
  @Column({
    type: DataType.INTEGER,
    allowNull: false,
    defaultValue: 0,
    comment: 'How much it matters, from 0 to 5.',
  })
  declare stars: number;

  @Column(DataType.TEXT)
  declare text: string | null;
}
