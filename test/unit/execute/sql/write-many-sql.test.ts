/** What the statements write is tested against PostgreSQL; here, what is text, and what is a value. */
import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { liftAll } from '../../../../src/execute/sql/lift-values.js';
import { isComparedAsText, isGivable } from '../../../../src/execute/sql/parameter-arrays.js';
import { describeSelection, describeTable } from '../../../../src/execute/sql/table-sql.js';
import { compileInsertMany, compileUpdateMany } from '../../../../src/execute/sql/write-many-sql.js';
import {
  compileDeleteMatching,
  compileUpdateMatching,
} from '../../../../src/execute/sql/write-matching-sql.js';
import { stampsOf } from '../../../../src/execute/sql/write-sql.js';
import { aliveRows, equalTo } from '../../../../src/operation/predicates.js';
import { defineModel, infoOf } from '../../../support/offline-models.js';

const info = infoOf(
  defineModel(
    'Note',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      text: { type: DataTypes.TEXT, field: 'body' },
      stars: DataTypes.DECIMAL,
      tags: DataTypes.ARRAY(DataTypes.TEXT),
      after: DataTypes.INTEGER,
    },
    { timestamps: true, paranoid: true, version: true, tableName: 'notes' },
  ),
);
const table = describeTable(info);
const returning = describeSelection(table, { columns: ['id', 'text'] }, 1);
const attributesOf = (...names: string[]) =>
  [...info.attributes.values()].filter(({ name }) => names.includes(name));
const groupOf = (...names: string[]) => ({
  columns: attributesOf(...names).map((attribute) => ({ attribute })),
  stamped: [],
});
const slotsOf = (...slots: string[]) => slots.map((slot) => ({ slot }));
const typed = (column: string, parameter: string) =>
  `CASE WHEN false THEN ARRAY(SELECT "${column}" FROM "notes") ELSE ${parameter} END`;

describe('statements that write many rows', () => {
  it('insert rows with keys drawn before, and find them again by these', () => {
    const group = { ...groupOf('text'), stamped: groupOf('updatedAt').columns };
    expect(compileInsertMany(table, [group], [], returning)).to.deep.equal({
      text:
        'WITH ".given.0" AS MATERIALIZED (SELECT ".each".*, nextval($1::oid::regclass) AS k, false AS refused ' +
        'FROM (SELECT ".rows".n, ".rows".v0 AS v0 ' +
        `FROM unnest($2::int4[], ${typed('body', '$3')}) AS ".rows" (n, v0)) AS ".each"), ` +
        '".written.0" (k, c0, c1) AS (INSERT INTO "notes" ("id", "body", "updatedAt") OVERRIDING SYSTEM VALUE ' +
        'SELECT k, v0, $4 FROM ".given.0" RETURNING "id", "id", "body") ' +
        'SELECT ".written.0".c0, ".written.0".c1, ".given.0".refused, CASE WHEN ".written.0".k IS NULL ' +
        `THEN format('%s was not written under its key', ".given.0".n)::int4 ELSE ".given.0".n END AS n ` +
        'FROM ".given.0" LEFT JOIN ".written.0" ON ".written.0".k = ".given.0".k ORDER BY n',
      values: slotsOf('many.sequence', 'many.0.places', 'many.0.value.text', 'now'),
    });
  });

  it('insert rows with values for other attributes in the same statement, and keys as they are given', () => {
    const groups = [groupOf('id', 'tags'), groupOf('id')];
    const { text, values } = compileInsertMany(table, groups, [], returning);
    expect(text).to.include(
      '(CASE WHEN false THEN (SELECT "tags" FROM "notes")[1:0] ELSE $1 END)[".rows".f1:".rows".l1] AS v1',
    );
    expect(text).to.include('INSERT INTO "notes" ("id", "tags") SELECT v0, v1 FROM ".given.0"');
    expect(text).to.include('INSERT INTO "notes" ("id") SELECT v0 FROM ".given.1"');
    expect(text).to.match(/ UNION ALL SELECT .* ORDER BY n$/);
    expect(values).to.deep.include.members(slotsOf('many.0.first.tags', 'many.0.last.tags', 'many.1.places'));
  });

  it('ask of each row for the one that it refers to, and write none where one is not there', () => {
    const row = {
      kind: 'exists',
      target: info,
      key: 'id',
      value: { attribute: 'after' },
      where: equalTo('text', { slot: 'scope' }),
    } as const;
    const groups = [groupOf('after'), groupOf('text')];
    const { text } = compileInsertMany(table, groups, [{ attribute: 'after', row }], returning);
    expect(text).to.include(
      '".each".v0 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "notes" AS "1.Note" ' +
        'WHERE "1.Note"."id" = ".each".v0 AND ("1.Note"."body" = $2)) AS refused',
    );
    const gate =
      'WHERE NOT EXISTS (SELECT FROM ".given.0" WHERE refused UNION ALL SELECT FROM ".given.1" WHERE refused)';
    expect(text.split(gate)).to.have.length(3);
  });

  it('change rows within a predicate, locked in the order of their keys, where none is refused', () => {
    const [text, stars] = attributesOf('text', 'stars').map((attribute, index) => ({
      attribute,
      isPartial: index === 1,
    }));
    const statement = compileUpdateMany(table, {
      set: [text, stars].flatMap((each) => each ?? []),
      stamps: stampsOf(info),
      where: aliveRows(info),
      references: [],
      state: 'version',
      returning,
    });
    expect(statement.text).to.equal(
      'WITH ".given" AS MATERIALIZED (SELECT ".rows".n, ".rows".v0 AS v0, ".rows".h1 AS h1, ".rows".v1 AS v1, ' +
        '".rows".t1 AS t1, ".rows".k AS k, ".rows".wanted AS wanted ' +
        `FROM unnest($1::int4[], ${typed('body', '$2')}, $3::bool[], ${typed('stars', '$4')}, $5::text[], ` +
        `${typed('id', '$6')}, $7::text[]) AS ".rows" (n, v0, h1, v1, t1, k, wanted)), ` +
        '".found" AS MATERIALIZED (SELECT "Note"."id" AS found, ' +
        `coalesce("Note"."version"::text, 'null') AS state, "Note"."id" AS c0, ` +
        '"Note"."body" AS c1 FROM "notes" AS "Note" WHERE ("Note"."id" = ANY($8)) AND ("Note"."deletedAt" IS NULL) ' +
        'ORDER BY "Note"."id" FOR NO KEY UPDATE OF "Note"), ' +
        '".judged" AS MATERIALIZED (SELECT ".given".*, ".found".*, found IS NULL ' +
        'OR row_number() OVER (PARTITION BY ".given".k ORDER BY ".given".n) > 1 ' +
        'OR wanted IS NOT NULL AND wanted IS DISTINCT FROM state AS refused ' +
        'FROM ".given" LEFT JOIN ".found" ON found = ".given".k), ' +
        '".written" (k, c0, c1) AS (UPDATE "notes" AS "Note" SET "body" = ".judged".v0, ' +
        '"stars" = CASE WHEN ".judged".h1 THEN ".judged".v1 ELSE "Note"."stars" END, "updatedAt" = $9, ' +
        '"version" = coalesce("Note"."version", 0) + 1 FROM ".judged" WHERE ("Note"."id" = ".judged".k) AND ' +
        '(NOT EXISTS (SELECT FROM ".judged" AS ".any" WHERE ".any".refused)) AND ' +
        '("Note"."body"::text IS DISTINCT FROM ".judged".v0::text OR ' +
        '".judged".h1 AND "Note"."stars"::text IS DISTINCT FROM ".judged".t1::text) ' +
        'RETURNING "Note"."id", "Note"."id", "Note"."body") ' +
        'SELECT CASE WHEN ".written".k IS NULL THEN ".judged".c0 ELSE ".written".c0 END AS c0, ' +
        'CASE WHEN ".written".k IS NULL THEN ".judged".c1 ELSE ".written".c1 END AS c1, refused ' +
        'FROM ".judged" LEFT JOIN ".written" ON ".written".k = ".judged".k ORDER BY n',
    );
  });

  it('write all rows of a predicate only where there are not too many', () => {
    const found =
      'WITH ".found" AS MATERIALIZED (SELECT "Note"."id" AS k FROM "notes" AS "Note" WHERE "Note"."deletedAt" IS NULL ' +
      'ORDER BY "Note"."id" LIMIT $1::int8 + 1 FOR LOCK OF "Note"), ' +
      '".judged" AS MATERIALIZED (SELECT count(*) AS found FROM ".found"), ".written" AS (';
    const within = 'WHERE ("Note"."id" = ".found".k) AND ((SELECT found <= $N::int8 FROM ".judged"))';
    const shown = ' RETURNING 1) SELECT found, (SELECT count(*) FROM ".written") FROM ".judged"';
    const remove = compileDeleteMatching(table, aliveRows(info), null);
    expect(remove.text).to.equal(
      `${found.replace('LOCK', 'UPDATE')}DELETE FROM "notes" AS "Note" USING ".found" ${within.replace('$N', '$2')}${shown}`,
    );
    const mark = compileDeleteMatching(table, aliveRows(info), 'deletedAt');
    expect(mark.text).to.equal(
      `${found.replace('LOCK', 'NO KEY UPDATE')}UPDATE "notes" AS "Note" SET "deletedAt" = $2 FROM ".found" ${within.replace('$N', '$3')}${shown}`,
    );
    const stamps = { updatedAt: null, version: null };
    const set = attributesOf('after');
    const update = compileUpdateMatching(table, { set, stamps, where: aliveRows(info), references: [] });
    expect(update.text).to.equal(
      `${found.replace('LOCK', 'NO KEY UPDATE')}UPDATE "notes" AS "Note" SET "after" = $2 FROM ".found" ` +
        `${within.replace('$N', '$3')} AND ("Note"."after" IS DISTINCT FROM $4)${shown}`,
    );
    expect(update.values).to.deep.equal(slotsOf('many.maximum', 'set.after', 'many.maximum', 'set.after'));
  });

  it('have one shape for all values of their predicates, which stay apart', () => {
    const one = liftAll(equalTo('text', 'a'), [equalTo('stars', '1')]);
    const other = liftAll(equalTo('text', 'b'), [equalTo('stars', '2')]);
    expect(one.shape).to.equal(other.shape);
    expect(one.bound).to.deep.equal({ 'bound.0': 'a', 'bound.1': '1' });
    const { shape } = liftAll(null, [equalTo('text', 'a'), equalTo('stars', '1')]);
    expect(shape).to.not.equal(one.shape);
  });

  it('are given no arrays of arrays, and no arrays whose members may not be separated by commas', () => {
    const text = { kind: 'string', maxLength: null } as const;
    const list = { kind: 'array', element: text } as const;
    expect([list, text].map(isGivable)).to.deep.equal([true, true]);
    expect(isGivable({ kind: 'array', element: list })).to.equal(false);
    expect(['INET', 'GEOMETRY', 'box'].map((sqlType) => isGivable({ kind: 'other', sqlType }))).to.deep.equal(
      [true, false, false],
    );
    expect(isComparedAsText({ kind: 'array', element: { kind: 'bigint' } })).to.equal(true);
    expect(isComparedAsText(list)).to.equal(false);
  });
});
