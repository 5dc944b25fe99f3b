/** Notes that are soft-deleted and have remarks: a resource with every endpoint that combinations allow. */
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { SERVES_MANY } from '../support/combination.js';
import { NumberedRow } from './rows.js';

const MANY = SERVES_MANY ? (['createMany', 'deleteMany'] as const) : [];

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge', ...MANY],
  filterAllow: ['title'],
})
@Table({ tableName: 'notes', paranoid: true, createdAt: false, updatedAt: false })
export class Note extends NumberedRow {
  @Column(DataType.STRING(20)) declare title: string | null;
  @HasMany(() => Remark) declare remarks: Remark[];
}

@Crud({ endpoints: ['list'] })
@Table({ tableName: 'remarks', timestamps: false })
export class Remark extends NumberedRow {
  @ForeignKey(() => Note) @Column(DataType.INTEGER) declare noteId: number;
}
