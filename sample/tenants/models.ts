/** Organisations, their projects, and the tasks of these. */
import { Crud } from 'crud-controllers';
import { AutoIncrement, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { isManager, isOperator, organisation, tasks } from './access.js';

@Crud({
  scope: { id: organisation },
  can: { list: true, read: true, create: isOperator, update: isManager, delete: isOperator },
})
@Table({ tableName: 'organisations', timestamps: false })
export class Organisation extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;
}

@Crud({
  can: { list: true, read: true, create: isManager, update: isManager, delete: isManager },
  fields: { budget: { read: isManager, write: isManager } },
})
@Table({
  tableName: 'projects',
  timestamps: false,
  indexes: [{ fields: ['organisationId', 'id'] }],
})
export class Project extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @ForeignKey(() => Organisation)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare organisationId: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;

  @Column(DataType.INTEGER)
  declare budget: number | null;
}

@Crud({
  visible: tasks,
  can: { list: true, read: true, create: true, update: true, delete: isManager },
  filterAllow: ['isDraft'],
})
@Table({
  tableName: 'tasks',
  timestamps: false,
  indexes: [{ fields: ['organisationId', 'id'] }, { fields: ['organisationId', 'isDraft'] }],
})
export class Task extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @ForeignKey(() => Organisation)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare organisationId: number;

  /** A project that the request may see; others are refused. */
  @ForeignKey(() => Project)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare projectId: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare title: string;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare author: string;

  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false })
  declare isDraft: boolean;
}
