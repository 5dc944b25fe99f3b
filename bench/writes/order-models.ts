/** Orders with their lines, as models of ours and of Sequelize. */
import {
  AutoIncrement,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';

@Table({ tableName: 'orders', timestamps: false, version: true })
export class Order extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare customer: string;
  @HasMany(() => Line) declare lines?: Line[];
  declare version: number;
}

@Table({ tableName: 'order_lines', timestamps: false })
export class Line extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @ForeignKey(() => Order) @Column({ type: DataType.INTEGER, allowNull: false }) declare orderId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare productId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare position: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare qty: number;
}
