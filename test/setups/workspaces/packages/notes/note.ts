import { Length } from 'class-validator';
import { Crud } from 'crud-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';

@Crud({ filterAllow: ['stars'] })
@Table({ tableName: 'notes', timestamps: false, indexes: [{ fields: ['stars', 'id'] }] })
export class Note extends Model {
  @Length(3, 80)
  @Column({ type: DataType.STRING(80), allowNull: false })
  declare title: string;

  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 })
  declare stars: number;
}
