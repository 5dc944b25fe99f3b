/** The models of the library as sequelize-typescript documents them. */
import {
  AllowNull,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

@Table({ tableName: 'publishers', timestamps: false })
export class Publisher extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(80))
  declare name: string;

  @AllowNull(false)
  @Column(DataType.STRING(40))
  declare city: string;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare founded: number;
}

@Table({ tableName: 'writers', timestamps: false })
export class Writer extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(80))
  declare name: string;

  @AllowNull(false)
  @Column(DataType.STRING(40))
  declare country: string;

  @AllowNull(false)
  @Column(DataType.TEXT)
  declare about: string;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare born: number;

  @HasMany(() => Book)
  declare books?: Loaded<Book>[];
}

@Table({ tableName: 'books', timestamps: false })
export class Book extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @AllowNull(false)
  @Column(DataType.STRING(120))
  declare title: string;

  @AllowNull(false)
  @Column(DataType.STRING(40))
  declare category: string;

  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare rating: number;

  @AllowNull(false)
  @Column(DataType.DOUBLE)
  declare price: number;

  @AllowNull(false)
  @Column(DataType.DATE(3))
  declare publishedAt: Date;

  @ForeignKey(() => Writer)
  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare writerId: number;

  @ForeignKey(() => Publisher)
  @Column(DataType.INTEGER)
  declare publisherId: number | null;

  @BelongsTo(() => Writer)
  declare writer?: Loaded<Writer>;

  @BelongsTo(() => Publisher)
  declare publisher?: Loaded<Publisher> | null;
}

/** All of them. */
export const MODELS = [Publisher, Writer, Book];
