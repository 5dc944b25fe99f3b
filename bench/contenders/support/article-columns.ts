/** The columns of the table as sequelize-typescript documents them. */
import { AllowNull, AutoIncrement, Column, DataType, Model, PrimaryKey } from 'sequelize-typescript';

/** Extended by each contender's model. */
export class ArticleColumns extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(120))
  declare title: string;

  @AllowNull(false)
  @Column(DataType.TEXT)
  declare body: string;

  @AllowNull(false)
  @Column(DataType.STRING(40))
  declare category: string;

  @Column(DataType.STRING(80))
  declare author: string | null;

  @AllowNull(false)
  @Column(DataType.DOUBLE)
  declare price: number;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare stock: number;

  @AllowNull(false)
  @Column(DataType.BOOLEAN)
  declare active: boolean;
}
