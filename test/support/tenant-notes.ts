/** Rows of several tenants, which lie between one another in one table: seen by one tenant, and by several with a condition. */
import type { Request } from 'express';
import {
  AutoIncrement,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, filter, type ModelClass } from '../../src/index.js';

const tenant = (request: Request): string | undefined => request.get('tenant');

@Crud({ scope: { owner: tenant } })
@Table({ tableName: 'folders', timestamps: false })
export class Folder extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare owner: string;

  @Column(DataType.TEXT)
  declare label: string | null;
}

/** What both models of the table have. Timestamps would make each answer another one. */
abstract class Notes extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  /** May be nobody's, so that the table itself does not refuse a row that nothing was said of. */
  @Column({ type: DataType.TEXT, unique: 'owner_code' })
  declare owner: string | null;

  @Column({ type: DataType.TEXT, allowNull: false, unique: 'owner_code' })
  declare code: string;

  @Column(DataType.INTEGER)
  declare points: number | null;

  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false })
  declare isOpen: boolean;

  @ForeignKey(() => Folder)
  @Column(DataType.INTEGER)
  declare folderId: number | null;

  @BelongsTo(() => Folder)
  declare folder?: Folder;
}

const TABLE = {
  tableName: 'notes',
  timestamps: true,
  createdAt: false,
  updatedAt: false,
  paranoid: true,
} as const;
const ATTRIBUTES = ['id', 'owner', 'code', 'points', 'isOpen', 'folderId'] as never;
const LISTS = { filterAllow: ATTRIBUTES, sortAllow: ATTRIBUTES, count: { cap: 2 } } as const;

/** Pages by number; a request acts for one tenant. */
@Crud({ ...LISTS, scope: { owner: tenant } })
@Table(TABLE)
export class Note extends Notes {}

/** Pages by cursor; a request acts for its tenant and for `C`, of which it sees what is open. */
@Crud({
  ...LISTS,
  prefix: '/leaves',
  pagination: 'cursor',
  scope: { owner: (request) => (tenant(request) === undefined ? undefined : [tenant(request) ?? '', 'C']) },
  visible: (request) => filter`isOpen==true,owner==${tenant(request)}`,
})
@Table(TABLE)
export class Leaf extends Notes {}

/** Those that are served. */
export const SERVED = [Note, Leaf] as readonly ModelClass[];

/** A row as SQL has it: id, owner, code, points, isOpen, folderId, whether it is deleted. */
type Row = readonly [number, string | null, string, number | null, boolean, number | null, boolean];

/** What A sees on one route at least. */
const OWN: readonly Row[] = [
  [1, 'A', 'ant', 5, false, 1, false],
  [4, 'A', 'asp', 5, true, 1, false],
  [7, 'A', 'auk', null, false, null, false],
  [10, 'A', 'ape', -3, true, 4, false],
  [13, 'A', 'ass', 5, false, 1, true],
  [16, 'A', 'same', 7, true, null, false],
  // As rows from before there was a scope may: its folder is another's.
  [18, 'A', 'alien', 5, true, 5, false],
  [3, 'C', 'cat', 5, true, null, false],
  [9, 'C', 'cow', 6, true, 3, false],
];

/** What A sees nowhere; most of it can be told by its `~`. */
const OTHERS: readonly Row[] = [
  [2, 'B', '~bee', 5, true, 2, false],
  [5, 'B', '~bug', 5, false, 2, false],
  [8, 'B', '~bat', null, true, null, false],
  [11, 'B', '~bear', -3, true, 2, true],
  [14, 'B', 'same', 7, true, null, false],
  [6, 'C', '~crab', 5, false, 3, false],
  [17, null, '~nobody', 5, true, null, false],
  [12, 'C', '~crow', 7, false, null, true],
];

const CHANGED: readonly Row[] = [
  [-1, 'B', '~beetle', 1, true, null, false],
  [2, 'B', '~boa', 500, true, null, true],
  [8, 'B', '~bison', 5, false, 2, false],
  [11, 'B', '~bear', 6, true, 2, false],
  [15, 'B', 'ant', null, false, null, false],
  [6, 'C', '~clam', -3, false, null, true],
  [12, 'C', '~crow', 5, false, 3, false],
];

/** What may be in the table beside A's rows. */
export const WORLDS = { there: OTHERS, absent: [], changed: CHANGED } as const satisfies Record<
  string,
  readonly Row[]
>;

export type World = keyof typeof WORLDS;

/** Fills the tables anew. Keys of new rows are the same in each world. */
export function fill(world: World): string {
  const folders = ['A', world === 'absent' ? null : 'B', 'C', 'A', 'B'];
  const owned = folders.flatMap((owner, index) =>
    owner ? `(${index + 1}, '${owner}', '${owner === 'A' ? '' : `~${world} `}of ${owner}')` : [],
  );
  const rows = [...OWN, ...WORLDS[world]].map(
    ([id, owner, code, points, isOpen, folder, isDeleted]) =>
      `(${id}, ${owner === null ? null : `'${owner}'`}, '${code}', ${points}, ${isOpen}, ${folder}, ${isDeleted ? "'2026-01-31'" : 'NULL'})`,
  );
  return `
    DELETE FROM notes; DELETE FROM folders;
    INSERT INTO folders (id, owner, label) VALUES ${owned};
    INSERT INTO notes (id, owner, code, points, "isOpen", "folderId", "deletedAt") VALUES ${rows};
    ALTER SEQUENCE notes_id_seq RESTART 1000; ALTER SEQUENCE folders_id_seq RESTART 1000;`;
}
