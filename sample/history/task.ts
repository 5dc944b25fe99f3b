/** A task of a shared list. Each change of it is stored, whoever makes it. */
import { Crud } from 'crud-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';

@Crud({
  history: true,
  changes: true,
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'revert'],
  // An application would check the user here.
  can: { history: true },
})
@Table({ tableName: 'tasks', timestamps: false, version: true })
export class Task extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.STRING(80), allowNull: false })
  declare title: string;

  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false })
  declare done: boolean;
}
