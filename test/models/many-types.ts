/** Columns of nearly every type, all of which may be NULL. */
import { AutoIncrement, Column, DataType, Model, PrimaryKey } from 'sequelize-typescript';

/** Without a key. */
export abstract class ManyTypes extends Model {
  @Column(DataType.SMALLINT) declare small: number | null;
  @Column(DataType.INTEGER) declare whole: number | null;
  @Column(DataType.BIGINT) declare big: string | null;
  @Column(DataType.DECIMAL(20, 4)) declare exact: string | null;
  @Column(DataType.DECIMAL) declare unlimited: string | null;
  @Column(DataType.REAL) declare real: number | null;
  @Column(DataType.DOUBLE) declare double: number | null;
  @Column(DataType.BOOLEAN) declare flag: boolean | null;
  @Column(DataType.DATE) declare moment: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.TIME) declare time: string | null;
  @Column(DataType.UUID) declare uuid: string | null;
  @Column(DataType.JSONB) declare jsonb: unknown;
  @Column(DataType.ENUM('red', 'dark green', "o'clock")) declare colour: string | null;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.STRING(5)) declare short: string | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare words: string[] | null;
  @Column(DataType.ARRAY(DataType.INTEGER)) declare numbers: number[] | null;
  @Column(DataType.ARRAY(DataType.DECIMAL)) declare decimals: string[] | null;
  @Column(DataType.ARRAY(DataType.DATE)) declare moments: Date[] | null;
  @Column(DataType.ARRAY(DataType.UUID)) declare uuids: string[] | null;
  @Column(DataType.ARRAY(DataType.ENUM('s', 'm', 'l'))) declare sizes: string[] | null;
}

/** With the key of `NumberedRow`. */
export abstract class NumberedManyTypes extends ManyTypes {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
}
