/** Money that went from one account to another; made by the accounts' controller, and only read here. */
import { Crud } from 'crud-controllers';
import { AutoIncrement, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Account } from './account.js';

@Crud({ endpoints: ['list', 'read'], sortAllow: ['id', 'amount'] })
@Table({ tableName: 'transfers', timestamps: false, underscored: true, indexes: [{ fields: ['amount'] }] })
export class Transfer extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @ForeignKey(() => Account)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare fromId: number;

  @ForeignKey(() => Account)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare toId: number;

  /** Cents. */
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare amount: number;
}
