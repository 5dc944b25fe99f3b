/** Rows of several tenants, which lie between one another in each table: seen by one tenant, and by several with a condition. */
import { Exclude } from 'class-transformer';
import type { Request } from 'express';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  Table,
} from 'sequelize-typescript';
import { BULK_ENDPOINTS, OPERATIONS } from '../../src/declare/endpoint.js';
import { Crud, filter, type ModelClass } from '../../src/index.js';
import { KeyedRow, NumberedRow } from '../models/rows.js';
import { SERVES_EXPORTS, SERVES_MANY } from './combination.js';

const tenant = (request: Request): string | undefined => request.get('tenant');

@Crud({ scope: { owner: tenant } })
@Table({ tableName: 'folders', timestamps: false })
export class Folder extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column(DataType.TEXT) declare label: string | null;

  @HasMany(() => Note, { as: 'notes', foreignKey: 'folderId', constraints: false })
  declare notes?: unknown;
}

@Crud({ scope: { owner: tenant }, filterAllow: ['id', 'code'], sortAllow: ['code'] } as object)
@Table({ tableName: 'tags', timestamps: false })
export class Tag extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column(DataType.TEXT) declare code: string;
}

/** A tag is on a note for the tenant of this row, whatever tenant has the two. */
@Crud({ scope: { owner: tenant } })
@Table({ tableName: 'note_tags', timestamps: false })
export class NoteTag extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column(DataType.INTEGER) declare noteId: number;
  @Column(DataType.INTEGER) declare tagId: number;
}

/** Attributes of both models of the table. Timestamps would make each answer another one. */
abstract class Notes extends NumberedRow {
  /** NULL is allowed, so that the table itself does not refuse a row without an owner. */
  @Column({ type: DataType.TEXT, unique: 'owner_code' }) declare owner: string | null;
  @Column({ type: DataType.TEXT, allowNull: false, unique: 'owner_code' }) declare code: string;
  @Column(DataType.INTEGER) declare points: number | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isOpen: boolean;
  @ForeignKey(() => Folder) @Column(DataType.INTEGER) declare folderId: number | null;
  @BelongsTo(() => Folder) declare folder?: Folder;

  @BelongsToMany(() => Tag, {
    as: 'tags',
    through: { model: () => NoteTag, unique: false },
    foreignKey: 'noteId',
    otherKey: 'tagId',
    constraints: false,
  })
  declare tags?: unknown;
}

const TABLE = {
  tableName: 'notes',
  timestamps: true,
  createdAt: false,
  updatedAt: false,
  paranoid: true,
} as const;
const ATTRIBUTES = ['id', 'owner', 'code', 'points', 'isOpen', 'folderId'] as never;
const FEW = { size: { default: 2, max: 3 } } as const;
/** Each leads to rows with a scope, by way of others. Some applications of the tests override the routes of notes. */
const RELATIONS = {
  folder: true,
  'folder.notes': { ...FEW, where: 'all' },
  'folder.notes.tags': FEW,
  tags: FEW,
} as const;
const FILTERS = {
  ...Object.fromEntries((ATTRIBUTES as readonly string[]).map((name) => [name, true])),
  'folder.label': true,
  tags: ['code'],
} as never;
const LISTS = {
  filterAllow: FILTERS,
  sortAllow: ATTRIBUTES,
  include: RELATIONS,
  count: { cap: 2 },
  endpoints: [
    ...OPERATIONS,
    'restore',
    'purge',
    ...(SERVES_MANY ? (['upsert', ...BULK_ENDPOINTS] as const) : []),
  ],
  ...(SERVES_MANY ? { upsert: [['owner', 'code']] as never } : {}),
  can: { deleted: true },
  ...(SERVES_MANY ? { import: { modes: ['create', 'update'] } as const } : {}),
  ...(SERVES_EXPORTS ? { export: ['csv', 'ndjson'] as const } : {}),
} as const;

/** Notes that belong together, whoever has them. */
@Table({ tableName: 'note_friends', timestamps: false })
export class Friendship extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare noteId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare friendId: number;
  @Column(DataType.TEXT) declare code: string | null;
}

/** Pages by number; a request acts for one tenant. */
@Crud({
  ...LISTS,
  scope: { owner: tenant },
  subresources: { siblings: { where: 'all' }, friends: { where: 'all' } },
  links: { friends: { can: { add: true, remove: true } } },
})
@Table(TABLE)
export class Note extends Notes {
  @BelongsToMany(() => Note, {
    as: 'friends',
    through: { model: () => Friendship, unique: false },
    foreignKey: 'noteId',
    otherKey: 'friendId',
    constraints: false,
  })
  declare friends?: unknown;

  /** The notes in the same folder. */
  @HasMany(() => Note, {
    as: 'siblings',
    foreignKey: 'folderId',
    sourceKey: 'folderId',
    constraints: false,
  })
  declare siblings?: unknown;
}

/** Pages by cursor; a request acts for its tenant and for `C`, of which it sees open rows. */
@Crud({
  ...LISTS,
  prefix: '/leaves',
  pagination: 'cursor',
  scope: { owner: (request) => (tenant(request) === undefined ? undefined : [tenant(request) ?? '', 'C']) },
  visible: (request) => filter`isOpen==true,owner==${tenant(request)}`,
})
@Table(TABLE)
export class Leaf extends Notes {}

const { id: _, ...WITHOUT_KEY } = FILTERS as Readonly<Record<string, unknown>>;

/** The same rows, addressed by a number that the table makes of their keys, which no client sees. */
@Crud({
  ...LISTS,
  id: 'twin',
  filterAllow: { ...WITHOUT_KEY, twin: true } as never,
  sortAllow: ['code', 'points', 'twin'] as never,
  pagination: 'cursor',
  scope: { owner: tenant },
  subresources: { likes: { where: 'all' } },
})
@Table(TABLE)
export class Twin extends Notes {
  @Exclude({ toPlainOnly: true }) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare twin: number;

  @HasMany(() => Twin, { as: 'likes', foreignKey: 'folderId', sourceKey: 'folderId', constraints: false })
  declare likes?: unknown;
}

/** In SQL, because no model declares it. */
export const TWIN_COLUMN =
  'ALTER TABLE notes ADD COLUMN twin int GENERATED ALWAYS AS (id) STORED NOT NULL UNIQUE';

/** The same rows, with keys that clients give. */
@Crud({ endpoints: ['read', 'replace'], scope: { owner: tenant } })
@Table(TABLE)
export class Card extends KeyedRow {
  @Column(DataType.TEXT) declare owner: string | null;
  @Column({ type: DataType.TEXT, allowNull: false }) declare code: string;
  @Column(DataType.INTEGER) declare points: number | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isOpen: boolean;
  @ForeignKey(() => Folder) @Column(DataType.INTEGER) declare folderId: number | null;
}

/** Models with a resource. */
export const SERVED = [Note, Leaf] as readonly ModelClass[];

/** Models without a resource. */
export const UNSERVED = [Card, Twin, Folder, Tag, NoteTag, Friendship] as readonly ModelClass[];

/** Tables whose rows belong to a tenant, beside that of a resource. */
export const OWNED_TABLES = ['folders', 'tags', 'note_tags'] as const;

/** A row as SQL has it: id, owner, code, points, isOpen, folderId, whether it is deleted. */
type Row = readonly [number, string | null, string, number | null, boolean, number | null, boolean];

/** Rows that A sees on one route at least. */
const OWN: readonly Row[] = [
  [1, 'A', 'ant', 5, false, 1, false],
  [4, 'A', 'asp', 5, true, 1, false],
  [7, 'A', 'auk', null, false, null, false],
  [10, 'A', 'ape', -3, true, 4, false],
  [13, 'A', 'ass', 5, false, 1, true],
  [16, 'A', 'same', 7, true, null, false],
  // A row from before there was a scope: its folder is another tenant's.
  [18, 'A', 'alien', 5, true, 5, false],
  [3, 'C', 'cat', 5, true, null, false],
  [9, 'C', 'cow', 6, true, 3, false],
];

/** Rows that A sees nowhere; most of them have a `~`. */
const OTHERS: readonly Row[] = [
  [2, 'B', '~bee', 5, true, 2, false],
  [5, 'B', '~bug', 5, false, 2, false],
  [8, 'B', '~bat', null, true, null, false],
  [11, 'B', '~bear', -3, true, 2, true],
  [14, 'B', 'same', 7, true, null, false],
  [6, 'C', '~crab', 5, false, 3, false],
  [17, null, '~nobody', 5, true, null, false],
  // In a folder of A's.
  [19, 'B', '~spy', 5, true, 1, false],
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
  [19, 'B', '~spy', 6, true, 4, false],
];

/** Tags of A, and of B. */
const OWN_TAGS = ["(1, 'A', 'red')", "(2, 'A', 'green')", "(3, 'A', 'blue')"];
/** Owner, note and tag: the tags that A sees, and those that others may have beside them. */
const OWN_LINKS = ["('A', 4, 1)", "('A', 4, 2)", "('A', 1, 3)", "('A', 3, 1)", "('A', 4, 9)", "('A', 4, 8)"];
const OTHERS_LINKS = {
  there: ["('B', 4, 3)", "('B', 2, 9)", "('C', 1, 1)", "('B', 10, 2)"],
  absent: [],
  changed: ["('B', 4, 9)", "('B', 1, 2)", "('C', 7, 3)"],
} as const;

/** Note, friend and code: links between notes of A, and those with a note of another. */
const OWN_FRIENDS = ["(4, 1, 'own')", '(1, 4, NULL)', "(4, 13, 'gone')"];
const FRIENDS = {
  there: [
    ...OWN_FRIENDS,
    "(4, 2, '~friend')",
    "(2, 4, '~friend')",
    "(2, 5, '~friend')",
    "(1, 14, '~friend')",
  ],
  absent: OWN_FRIENDS,
  changed: [...OWN_FRIENDS, "(4, 8, '~other')", "(11, 4, '~other')", "(4, 19, '~other')"],
} as const;

/** Rows in the table beside A's. */
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
  const tags = [...OWN_TAGS, ...(world === 'absent' ? [] : [`(8, 'C', '~tag')`, `(9, 'B', '~${world}')`])];
  const links = [...OWN_LINKS, ...OTHERS_LINKS[world]];
  return `
    DELETE FROM notes; DELETE FROM folders; DELETE FROM tags; DELETE FROM note_tags; DELETE FROM note_friends;
    INSERT INTO tags (id, owner, code) VALUES ${tags};
    INSERT INTO note_tags (owner, "noteId", "tagId") VALUES ${links};
    INSERT INTO note_friends ("noteId", "friendId", code) VALUES ${FRIENDS[world]};
    INSERT INTO folders (id, owner, label) VALUES ${owned};
    INSERT INTO notes (id, owner, code, points, "isOpen", "folderId", "deletedAt") VALUES ${rows};
    SELECT setval('notes_id_seq', 1000, false), setval('folders_id_seq', 1000, false);`;
}
