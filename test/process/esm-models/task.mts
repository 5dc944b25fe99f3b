/** An ES module of two that import each other. */
import { BelongsTo, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud, type Ref } from '../../../src/index.js';
import { Project } from './project.mjs';

@Crud<Task>({ include: { project: true } })
@Table({ tableName: 'tasks', timestamps: false })
export class Task extends Model {
  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;

  @ForeignKey(() => Project)
  @Column(DataType.INTEGER)
  declare projectId: number;

  @BelongsTo(() => Project)
  declare project?: Ref<Project>;
}
