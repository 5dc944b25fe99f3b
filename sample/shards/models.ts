/** Orders of tenants, and their lines. The tenant is in each key and in each relation, so that a statement names its server. */
import { Crud, HasManyKey, type Ref } from 'crud-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';

@Crud({ id: ['id'], include: { lines: true }, filterAllow: ['title'], sortAllow: ['title'] })
@Table({ tableName: 'orders', timestamps: false })
export class Order extends Model {
  @PrimaryKey
  @Column({ type: DataType.INTEGER, field: 'tenant_id' })
  declare tenantId: number;

  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare title: string;

  @HasManyKey(() => Line, { tenantId: 'tenantId', id: 'orderId' })
  declare lines?: Ref<Line[]>;
}

@Crud({ id: ['id'] })
@Table({ tableName: 'order_lines', timestamps: false })
export class Line extends Model {
  @PrimaryKey
  @Column({ type: DataType.INTEGER, field: 'tenant_id' })
  declare tenantId: number;

  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.INTEGER, allowNull: false, field: 'order_id' })
  declare orderId: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare text: string;
}
