/** Keys that most models of the tests have. */
import { AutoIncrement, Column, DataType, Model, PrimaryKey } from 'sequelize-typescript';

/** A row that the database numbers. */
export abstract class NumberedRow extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
}

/** A row whose number clients give. */
export abstract class KeyedRow extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
}

/** A row with a short name. */
export abstract class NamedRow extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

/** A row with a short text. */
export abstract class TextRow extends NumberedRow {
  @Column({ type: DataType.STRING(200), allowNull: false }) declare text: string;
}

/** A row with a title of any length. */
export abstract class TitledRow extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}
