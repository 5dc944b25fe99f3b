/** The resources of the soak. Their rows have a text that names the request that wrote it, and a version. */
import { BeforeCreate, Column, DataType, Index, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  type CrudOptions,
  crudController,
} from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

const OPTIONS = {
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'deleteMany'],
  filterAllow: ['text'],
  sortAllow: ['text'],
} as const satisfies CrudOptions;

/** On the fast path. */
@Crud({ ...OPTIONS, pagination: 'cursor' })
@Table({ tableName: 'notes', version: true, timestamps: false })
class Note extends NumberedRow {
  @Index @Column({ type: DataType.STRING(100), allowNull: false }) declare text: string;
}

/** Its creates are transactions of two statements. */
@Crud(OPTIONS)
@Table({ tableName: 'orders', version: true, timestamps: false })
class Order extends NumberedRow {
  @Index @Column({ type: DataType.STRING(100), allowNull: false }) declare text: string;
}

/** A hook makes Sequelize run its creates. */
@Crud(OPTIONS)
@Table({ tableName: 'parcels', version: true, timestamps: false })
class Parcel extends NumberedRow {
  @Index @Column({ type: DataType.STRING(100), allowNull: false }) declare text: string;

  @BeforeCreate
  static mark(parcel: Parcel): void {
    parcel.text = stored('parcels', parcel.text);
  }
}

/** Writes each row twice. A row without the mark is half of a transaction. */
export class OrderController extends crudController(Order) {
  override async create(values: CreateValues<Order>, context: CrudContext<Order>): Promise<Order> {
    const order = await super.create(values, context);
    return context.repository.update(order.id, { text: stored('orders', String(values.text)) });
  }
}

/** All of them. */
export const MODELS = [Note, Order, Parcel];

/** Their tables, and paths. */
export const TABLES = ['notes', 'orders', 'parcels'] as const;

/** The beginning of all texts of requests; nothing else contains it. */
export const MARK = 'written-by-';

/** The name of a table. */
export type TableName = (typeof TABLES)[number];

/** The text of the row that a create with this text leaves. */
export function stored(table: TableName, text: string): string {
  return table === 'notes' ? text : `${text}-done`;
}
