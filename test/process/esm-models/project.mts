/** An ES module of two that import each other. */
import { Column, DataType, HasMany, Model, Table } from 'sequelize-typescript';
import { Crud, type Ref } from '../../../src/index.js';
import { Task } from './task.mjs';

@Crud<Project>({ include: { tasks: true } })
@Table({ tableName: 'projects', timestamps: false })
export class Project extends Model {
  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;

  @HasMany(() => Task)
  declare tasks?: Ref<Task[]>;
}
