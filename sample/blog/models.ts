/** Users, their articles and comments; whom they follow, and what they like. */
import { Exclude } from 'class-transformer';
import { IsEmail, MinLength } from 'class-validator';
import { Crud } from 'crud-controllers';
import {
  BeforeSave,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  Table,
} from 'sequelize-typescript';
import { followedByMe, isCurrent, isMe, isMine, likedByMe, me } from './access.js';
import { hashPassword } from './sign-in.js';

const TEXT = { type: DataType.TEXT, allowNull: false };
const KEY = { type: DataType.INTEGER, allowNull: false };

@Crud({
  id: 'username',
  endpoints: ['create', 'read', 'update'],
  can: { update: isMe },
  fields: { email: { read: isCurrent } },
  include: { followers: { where: followedByMe } },
})
@Table({ tableName: 'users', timestamps: false })
export class User extends Model {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare username: string;
  @IsEmail() @Column({ type: DataType.STRING(200), allowNull: false, unique: true }) declare email: string;
  @MinLength(8) @Exclude({ toPlainOnly: true }) @Column(TEXT) declare password: string;
  @Column(DataType.TEXT) declare bio: string | null;
  @Column(DataType.TEXT) declare image: string | null;
  @HasMany(() => Follow, 'followedId') declare followers?: Follow[];
  @BeforeSave
  static async hash(user: User) {
    if (user.changed('password')) user.password = await hashPassword(user.password);
  }
}

@Crud({
  id: 'slug',
  set: { authorId: me },
  can: { update: isMine, delete: isMine },
  include: {
    author: { where: 'all' },
    fans: { where: followedByMe },
    likes: { count: true },
    mine: { where: likedByMe },
  },
  filterAllow: { tagList: true, 'author.username': true, fans: ['followerId'], likes: ['user.username'] },
  defaultSort: '-createdAt',
  subresources: ['comments'],
})
@Table({ tableName: 'articles', indexes: [{ fields: ['createdAt', 'id'] }, { fields: ['authorId', 'id'] }] })
export class Article extends Model {
  @Exclude({ toClassOnly: true })
  @Column({ type: DataType.STRING(120), allowNull: false, unique: true })
  declare slug: string;
  @Column({
    type: DataType.STRING(100),
    allowNull: false,
    set(this: Article, title: string) {
      this.setDataValue('title', title);
      this.setDataValue(
        'slug',
        (
          String(title)
            .toLowerCase()
            .match(/[\p{L}\p{N}]+/gu) ?? []
        ).join('-'),
      );
    },
  })
  declare title: string;

  @Column(TEXT) declare description: string;
  @Column(TEXT) declare body: string;
  @Column({ type: DataType.ARRAY(DataType.TEXT), allowNull: false, defaultValue: [] })
  declare tagList: string[];
  @ForeignKey(() => User) @Column(KEY) declare authorId: number;
  @BelongsTo(() => User) declare author?: User | null;
  /** Followers of the author: `include` shows the current user alone. */
  @HasMany(() => Follow, { sourceKey: 'authorId', foreignKey: 'followedId' }) declare fans?: Follow[];
  @HasMany(() => Like) declare likes?: Like[];
  /** The same rows, of which `include` shows those of the current user. */
  @HasMany(() => Like) declare mine?: Like[];
  @HasMany(() => Comment) declare comments?: Comment[];
}

@Crud({
  set: { authorId: me },
  can: { delete: isMine },
  endpoints: ['list', 'create', 'delete'],
  include: { author: { where: 'all' }, 'author.followers': { where: followedByMe } },
})
@Table({ tableName: 'comments', indexes: [{ fields: ['articleId', 'id'] }] })
export class Comment extends Model {
  @Column(TEXT) declare body: string;
  @ForeignKey(() => Article) @Column({ ...KEY, onDelete: 'CASCADE' }) declare articleId: number;
  @ForeignKey(() => User) @Column(KEY) declare authorId: number;
  @BelongsTo(() => User) declare author?: User | null;
}

@Table({ timestamps: false, indexes: [{ fields: ['articleId', 'userId'], unique: true }] })
export class Like extends Model {
  @ForeignKey(() => User) @Column(KEY) declare userId: number;
  @ForeignKey(() => Article) @Column({ ...KEY, onDelete: 'CASCADE' }) declare articleId: number;
  @BelongsTo(() => User) declare user?: User | null;
}

@Table({ timestamps: false, indexes: [{ fields: ['followedId', 'followerId'], unique: true }] })
export class Follow extends Model {
  @ForeignKey(() => User) @Column(KEY) declare followerId: number;
  @ForeignKey(() => User) @Column(KEY) declare followedId: number;
}
