/** A model in a file of its own, for engines that load theirs by path. */
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';

@Crud()
@Table({ tableName: 'coins', timestamps: false })
export class Coin extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;
}
