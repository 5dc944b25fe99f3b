/** What a default scope and hooks of a target mean for predicates over its rows. */
import { expect } from 'chai';
import { DataTypes, Op, Sequelize } from 'sequelize';
import { describeRelation } from '../../../../src/describe/relations.js';
import { columnsOf, compilePredicate } from '../../../../src/execute/sql/predicate-sql.js';
import { renderSql } from '../../../../src/execute/sql/sql-fragment.js';
import { OPEN_ACCESS } from '../../../../src/operation/access.js';
import { anyRelated, relatedRows } from '../../../../src/operation/related-rows.js';
import { infoOf } from '../../../support/offline-models.js';

const ACCESS = { target: OPEN_ACCESS, where: null, through: null };

function define() {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  const options = {
    timestamps: false,
    defaultScope: { where: { [Op.or]: { isShown: true, stars: [4, 5] } } },
  };
  const attributes = {
    isShown: { type: DataTypes.BOOLEAN, field: 'is_shown' },
    stars: DataTypes.INTEGER,
    parentId: DataTypes.INTEGER,
  };
  const model = sequelize.define('Note', attributes, options);
  model.hasMany(model, { as: 'answers', foreignKey: 'parentId' });
  const { relation } = describeRelation(model, 'answers');
  if (!relation) throw new Error('There is no relation.');
  const info = infoOf(model);
  return { model, info, plan: { relation, target: { info }, through: null } as never };
}

const SCOPE = '("Note"."stars" IN (4, 5) OR "Note"."is_shown" = true)';

describe('predicates over the rows of a target with a default scope', () => {
  it('have its condition as it is where the table has the name of its model', () => {
    const { info, plan } = define();
    const sql = compilePredicate(relatedRows(plan, ACCESS), columnsOf(info, info.name));
    expect(renderSql(sql, () => '?')).to.equal(`("Note"."parentId" = ?) AND (${SCOPE})`);
  });

  it('look the row up under that name elsewhere', () => {
    const { info, plan } = define();
    const sql = compilePredicate(anyRelated(plan, ACCESS, null), columnsOf(info, info.name));
    expect(renderSql(sql, () => '?')).to.equal(
      'EXISTS (SELECT 1 FROM "Notes" AS "1.Note" WHERE "1.Note"."parentId" = "Note"."id" AND (EXISTS (SELECT 1 FROM "Notes" AS ' +
        `"Note" WHERE "Note"."id" = "1.Note"."id" AND (${SCOPE}))))`,
    );
  });

  it('are refused as a filter where a hook chooses its rows, and only then', () => {
    const { model, plan } = define();
    model.addHook('afterFind', () => {});
    expect(() => anyRelated(plan, ACCESS, null)).not.to.throw();
    model.addHook('beforeFind', () => {});
    expect(() => anyRelated(plan, ACCESS, null)).to.throw(TypeError, 'choose the rows of Note');
    expect(() => relatedRows(plan, ACCESS)).not.to.throw();
    const own = define();
    expect(() => anyRelated(own.plan, ACCESS, null)).not.to.throw();
    const { findAll } = own.model;
    own.model.findAll = ((...given: []) => Reflect.apply(findAll, own.model, given)) as typeof findAll;
    expect(() => anyRelated(own.plan, ACCESS, null)).to.throw(TypeError, 'choose the rows of Note');
  });
});
