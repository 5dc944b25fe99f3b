/** An account. Its balance changes by transfers only, so it has no update. */
import { Min } from 'class-validator';
import { Crud } from 'crud-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';

@Crud({ endpoints: ['list', 'read', 'create'] })
@Table({ tableName: 'accounts', timestamps: false })
export class Account extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.STRING(40), allowNull: false })
  declare owner: string;

  /** Cents. */
  @Min(0)
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 })
  declare balance: number;
}
