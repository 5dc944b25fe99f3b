/** People in groups, of two tenants, with an attribute of each link; and badges, whose links have none. */
import type { Request } from 'express';
import { BelongsToMany, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import type { TestAppOptions } from '../../support/test-app.js';

const tenant = (request: Request): string => request.get('tenant') ?? 'A';

@Crud({
  scope: { tenant },
  can: {
    update: (request) =>
      request.get('user') === 'owner' ? filter`name==Ann` : request.get('user') !== 'guest',
  },
  links: {
    groups: true,
    badges: { max: 3, can: { add: true, remove: (request) => request.get('user') === 'staff' } },
  },
})
@Table({ tableName: 'people', timestamps: false, version: true })
export class Person extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Column(DataType.TEXT) declare name: string;
  @BelongsToMany(
    () => Group,
    () => Membership,
  )
  declare groups?: Group[];
  @BelongsToMany(() => Badge, {
    through: 'person_badges',
    foreignKey: 'personId',
    otherKey: 'badgeId',
    timestamps: false,
  })
  declare badges?: Badge[];
}

@Crud({
  scope: { tenant },
  visible: () => filter`isSecret==false`,
  links: { members: { touch: true, fields: ['role'] } },
})
@Table({ tableName: 'groups', timestamps: false, paranoid: false, version: true })
export class Group extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Column(DataType.TEXT) declare name: string;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isSecret: boolean;
  @BelongsToMany(
    () => Person,
    () => Membership,
  )
  declare members?: Person[];
}

@Table({ tableName: 'memberships', timestamps: true, updatedAt: false })
export class Membership extends Model {
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, primaryKey: true }) declare personId: number;
  @ForeignKey(() => Group) @Column({ type: DataType.INTEGER, primaryKey: true }) declare groupId: number;
  @Column({ type: DataType.STRING(10), allowNull: false, defaultValue: 'member' }) declare role: string;
  @Column(DataType.INTEGER) declare points: number | null;
}

/** Addressed by its code, and gone by a mark. */
@Crud({ id: 'code' })
@Table({ tableName: 'badges', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
export class Badge extends NumberedRow {
  @Column({ type: DataType.CITEXT, allowNull: false, unique: true }) declare code: string;
}

const PEOPLE = [Person, Group, Membership, Badge];
const SERVED_PEOPLE = [Person, Group, Badge];

/** Fills the tables anew. */
export const fillPeople = `
  TRUNCATE people, groups, memberships, badges, person_badges;
  INSERT INTO people (id, tenant, name, version) VALUES (1, 'A', 'Ann', 0), (2, 'A', 'Bob', 0), (3, 'B', 'Eve', 0);
  INSERT INTO groups (id, tenant, name, "isSecret", version) VALUES
    (7, 'A', 'ops', false, 0), (8, 'A', 'dev', false, 0), (9, 'A', 'board', true, 0), (10, 'B', 'spies', false, 0);
  INSERT INTO badges (id, code, "deletedAt") VALUES (1, 'red', NULL), (2, 'green', NULL), (3, 'blue', NULL), (4, 'gone', now()), (5, 'pink', NULL);`;

/** The application of a suite. */
export async function peopleApp(options: Partial<TestAppOptions> = {}): Promise<TestAppOptions> {
  const database = await freshDatabase();
  await execute(database.url, 'CREATE EXTENSION citext');
  return { models: PEOPLE, database, ...options, bootstrap: { models: SERVED_PEOPLE, ...options.bootstrap } };
}

/** Overrides may hide records, so that the start refuses links beside them. */
export const OVERRIDDEN = {
  session: 'it overrides methods that links would pass by, which the start refuses',
  records: 'it overrides methods that links would pass by, which the start refuses',
};
