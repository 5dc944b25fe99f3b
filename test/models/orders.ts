/** Orders with their lines, and lines with their discounts, of several tenants. */
import type { Request } from 'express';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, HasOne, Table } from 'sequelize-typescript';
import { Crud, EVERYTHING, type ModelClass } from '../../src/index.js';
import { NumberedRow } from './rows.js';

/** `tenant: 1,2` acts for several, `all` for everybody. */
export function tenantOf(request: Request): number | readonly number[] | typeof EVERYTHING {
  const text = request.get('tenant') ?? '1';
  if (text === 'all') return EVERYTHING;
  return text.includes(',') ? text.split(',').map(Number) : Number(text);
}

/** False where the request lacks the right. */
function may(right: string): (request: Request) => boolean {
  return (request) => !(request.get('without') ?? '').split(',').includes(right);
}

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace', 'createMany', 'updateMany'],
  scope: { tenantId: tenantOf },
  nested: { lines: { max: 100, replace: true }, 'lines.discounts': { max: 10 }, note: true },
})
@Table({ tableName: 'orders', timestamps: false, version: true })
export class Order extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare customer: string;
  @HasMany(() => Line) declare lines: Line[];
  @HasOne(() => Note) declare note: Note | null;
}

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany'],
  scope: { tenantId: tenantOf },
  can: { create: may('create'), update: may('update'), delete: may('delete'), list: may('list') },
  fields: { cost: { read: may('cost') } },
  sortAllow: ['position'],
  defaultSort: 'position',
})
@Table({
  tableName: 'lines',
  timestamps: false,
  version: true,
  indexes: [{ unique: true, fields: ['orderId', 'position'] }, { fields: ['productId'] }],
})
export class Line extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @ForeignKey(() => Order)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare orderId: number;
  @ForeignKey(() => Product)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare productId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare position: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare qty: number;
  @Column(DataType.INTEGER) declare cost: number | null;
  @BelongsTo(() => Order) declare order: Order;
  @HasMany(() => Discount) declare discounts: Discount[];
}

@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'updateMany'] })
@Table({ tableName: 'discounts', timestamps: false, paranoid: false, indexes: [{ fields: ['lineId'] }] })
export class Discount extends NumberedRow {
  @ForeignKey(() => Line)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare lineId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare percent: number;
}

@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete'] })
@Table({ tableName: 'notes', timestamps: true, updatedAt: false, createdAt: false, paranoid: true })
export class Note extends NumberedRow {
  @ForeignKey(() => Order)
  @Column({ type: DataType.INTEGER, allowNull: false, unique: true })
  declare orderId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

@Crud({ endpoints: ['list', 'read', 'create'], scope: { tenantId: tenantOf } })
@Table({ tableName: 'products', timestamps: false })
export class Product extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

export const ORDER_MODELS = [Order, Line, Discount, Note, Product] as unknown as ModelClass[];
