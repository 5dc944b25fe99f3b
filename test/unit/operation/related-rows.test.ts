import { expect } from 'chai';
import { DataTypes, type ModelAttributes, type ModelOptions, Sequelize } from 'sequelize';
import { compileSubresourceAccess } from '../../../src/access/subresource-access.js';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { RelatedPlan, SubresourcePlan } from '../../../src/compile/resource-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { type Access, type AccessForm, OPEN_ACCESS } from '../../../src/operation/access.js';
import { allOf, equalTo } from '../../../src/operation/predicates.js';
import {
  anyRelated,
  checkCountable,
  grantedOf,
  PARENT,
  type RelatedAccess,
  relatedRows,
  relatedSlots,
  rowsUnder,
  withGranted,
} from '../../../src/operation/related-rows.js';
import type { Inclusion } from '../../../src/request/query/list-query.js';
import type { Predicate } from '../../../src/request/query/predicate.js';
import { decoratorReader } from '../../support/offline-models.js';

const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
function define(name: string, attributes: ModelAttributes = {}, options: ModelOptions = {}): ModelClass {
  return sequelize.define(name, attributes, { timestamps: false, ...options });
}
const SOFT: ModelOptions = { timestamps: true, paranoid: true };
const Team = define('Team', { code: { type: DataTypes.TEXT, unique: true } });
const Task = define(
  'Task',
  { kind: DataTypes.TEXT, rank: DataTypes.INTEGER, closedBy: DataTypes.TEXT },
  SOFT,
);
const Person = define('Person', { name: DataTypes.TEXT }, { defaultScope: { where: { name: 'a' } } });
const Member = define('Member', { role: DataTypes.TEXT }, SOFT);
const Hooked = define('Hooked', { role: DataTypes.TEXT });
Hooked.addHook('beforeFind', () => {});
Team.hasMany(Task, { as: 'tasks', foreignKey: 'teamId' });
Team.hasMany(Task, {
  as: 'open',
  foreignKey: 'teamId',
  scope: { kind: ['a', 'b'], rank: 1, closedBy: null },
});
Team.belongsToMany(Person, {
  as: 'people',
  through: { model: Member, scope: { role: 'boss' } },
  foreignKey: 'teamId',
  otherKey: 'personId',
});
Team.hasMany(Hooked, { as: 'hooked', foreignKey: 'teamId' });

/** The plans of Team's relations, new ones. */
function makePlans() {
  const include = { tasks: {}, open: {}, people: {}, hooked: {} };
  const others = [Task, Person].map((model) => ({ model, options: {} }));
  const [plan] = compilePlan(
    [{ model: Team, options: { include } as CrudOptions }, ...others],
    decoratorReader,
  );
  const related = (name: string): RelatedPlan => {
    const found = plan?.relations.include.get(name);
    if (!found) throw new Error(`There is no relation ${name}.`);
    return found;
  };
  return {
    tasks: related('tasks'),
    open: related('open'),
    people: related('people'),
    hooked: related('hooked'),
  };
}

const ALL: RelatedAccess = { target: OPEN_ACCESS, where: null, through: null };
const RANK = equalTo('rank', '1');
const KIND = equalTo('kind', 'a');
const ROLE = equalTo('role', 'x');
const OF_TEAM = equalTo('teamId', PARENT);
const alive = { kind: 'comparison', attribute: 'deletedAt', operator: '=isnull=', values: ['true'] } as const;
const scope = [
  { kind: 'comparison', attribute: 'kind', operator: '=in=', values: ['a', 'b'] },
  RANK,
  { ...alive, attribute: 'closedBy' },
] as const;
const seeing = (where: Predicate | null): Access => ({ ...OPEN_ACCESS, where });

/** The operands of a conjunction. */
function partsOf(predicate: Predicate | null): readonly Predicate[] {
  return predicate?.kind === 'and' ? predicate.operands : predicate ? [predicate] : [];
}

describe('the rows behind a relation', () => {
  let tasks: RelatedPlan;
  let open: RelatedPlan;
  let people: RelatedPlan;
  let hooked: RelatedPlan;
  // What is made of a plan is kept with it.
  beforeEach(() => {
    ({ tasks, open, people, hooked } = makePlans());
  });

  it('are those with the key of the parent that are there, within the scope of the relation', () => {
    expect(relatedRows(tasks, ALL)).to.deep.equal(allOf(OF_TEAM, alive));
    expect(relatedRows(open, ALL)).to.deep.equal(allOf(OF_TEAM, allOf(alive, allOf(...scope)) as Predicate));
  });

  it('are those that the request sees, and that a filter finds', () => {
    const access = { ...ALL, target: seeing(RANK), where: KIND };
    expect(relatedRows(tasks, access)).to.deep.equal(allOf(OF_TEAM, alive, RANK, KIND));
    expect(relatedRows(tasks, access, ROLE)).to.deep.equal(allOf(OF_TEAM, alive, RANK, KIND, ROLE));
  });

  it('are the same object for requests without a filter that see the same, and no other', () => {
    const accesses = [
      ALL,
      { ...ALL, target: seeing(RANK) },
      { ...ALL, where: KIND },
      { ...ALL, target: seeing(RANK), where: KIND },
    ];
    for (const access of accesses) {
      const rows = relatedRows(tasks, access);
      expect(relatedRows(tasks, { ...access })).to.equal(rows);
      for (const other of accesses.filter((each) => each !== access)) {
        expect(relatedRows(tasks, other)).not.to.deep.equal(rows);
      }
      expect(relatedRows(tasks, access, ROLE)).not.to.deep.equal(relatedRows(tasks, access, KIND));
    }
  });

  it('are linked by rows of the table between, of which the request sees some', () => {
    const rows = relatedRows(people, { ...ALL, through: seeing(ROLE) });
    const [link, ...others] = partsOf(rows);
    expect(link).to.deep.include({ kind: 'exists', key: 'personId', value: { attribute: 'id' } });
    const between = link?.kind === 'exists' ? partsOf(link.where) : [];
    expect(between[0]).to.deep.equal(OF_TEAM);
    expect(JSON.stringify(between)).to.include('"boss"').and.to.include('deletedAt');
    expect(between.at(-1)).to.deep.equal(ROLE);
    // The default scope of the target.
    expect(others.map(({ kind }) => kind)).to.deep.equal(['written']);
    expect(relatedRows(people, ALL)).not.to.deep.equal(rows);
    expect(relatedRows(people, ALL)).to.equal(relatedRows(people, { ...ALL }));
  });

  it('leave out soft-deleted ones by themselves where the operation on them does so', () => {
    expect(rowsUnder(tasks, ALL)).to.deep.equal(OF_TEAM);
    expect(rowsUnder(open, { ...ALL, target: seeing(KIND), where: ROLE })).to.deep.equal(
      allOf(OF_TEAM, allOf(...scope) as Predicate, KIND, ROLE),
    );
  });

  it('may be asked for as a condition on the row around them', () => {
    expect(anyRelated(tasks, { ...ALL, target: seeing(RANK), where: KIND }, ROLE)).to.deep.include({
      kind: 'exists',
      key: 'teamId',
      value: { attribute: 'id' },
      where: allOf(alive, RANK, KIND, ROLE),
    });
    const { key, value, where } = anyRelated(people, { ...ALL, through: seeing(RANK) }, ROLE);
    expect({ key, value }).to.deep.equal({ key: 'teamId', value: { attribute: 'id' } });
    const [beyond, ...between] = partsOf(where);
    expect(beyond).to.deep.include({ kind: 'exists', key: 'id', value: { attribute: 'personId' } });
    expect(partsOf(beyond?.kind === 'exists' ? beyond.where : null).at(-1)).to.deep.equal(ROLE);
    expect(between.at(-1)).to.deep.equal(RANK);
  });

  it('are not asked for, or counted, where hooks choose them', () => {
    const message = /^Relations cannot be filtered by, or counted: /;
    expect(() => anyRelated(hooked, ALL, null)).to.throw(TypeError, message);
    expect(() => checkCountable(hooked)).to.throw(TypeError, message);
    for (const plan of [tasks, people]) expect(() => checkCountable(plan)).not.to.throw();
    expect(() => checkCountable({ ...people, through: hooked.target.info })).to.throw(TypeError, message);
    expect(() => anyRelated({ ...people, through: hooked.target.info }, ALL, null)).to.throw(
      TypeError,
      message,
    );
  });

  it('have the texts of their slots, those of the table between too', () => {
    const [target, through] = ['a', 'b'].map((name) => ({ ...OPEN_ACCESS, slots: { [name]: name } }));
    if (!target || !through) throw new Error('There are two.');
    expect(relatedSlots({ ...ALL, target })).to.deep.equal({ a: 'a' });
    expect(relatedSlots({ ...ALL, target, through })).to.deep.equal({ a: 'a', b: 'b' });
  });

  it('of an inclusion are those that its request was granted', () => {
    const inclusion = { size: 3 } as Inclusion;
    expect(grantedOf(inclusion)).to.equal(undefined);
    expect(grantedOf({ ...withGranted(inclusion, ALL) })).to.equal(ALL);
  });
});

describe('the access to a sub-resource', () => {
  const { tasks, people } = makePlans();
  const grant = compileSubresourceAccess(tasks as SubresourcePlan);
  const form: AccessForm = { ...OPEN_ACCESS.form, where: RANK };
  const target: Access = { ...OPEN_ACCESS, form, where: RANK, slots: { a: '1' }, digest: () => 'own' };

  it('shares a form between requests with the same rules', () => {
    const [one, two] = ['1', '2'].map((id) => grant({ ...ALL, target }, id));
    expect(one?.form).to.equal(two?.form);
    expect(one?.where).to.equal(one?.form.where);
    expect(one?.where).to.deep.equal(allOf(OF_TEAM, RANK));
    expect(grant(ALL, '1').form).not.to.equal(one?.form);
  });

  it('has the condition of its request beside those that all have', () => {
    const own = { ...target, where: allOf(RANK, KIND) };
    for (const access of [
      { ...ALL, target: own },
      { ...ALL, target, where: KIND },
    ]) {
      const { where, form: shared } = grant(access, '1');
      expect(JSON.stringify(where)).to.include('"kind","operator":"=="').and.to.include('"rank"');
      expect(shared.where).to.deep.equal(allOf(OF_TEAM, RANK));
    }
    const through = seeing(ROLE);
    const { where } = compileSubresourceAccess(people as SubresourcePlan)({ ...ALL, through }, '1');
    expect(JSON.stringify(where)).to.include('"role"');
  });

  it('belongs to one parent, whose key it is given later', () => {
    const access = grant({ ...ALL, target }, '1');
    expect(access.digest()).not.to.equal(grant({ ...ALL, target }, '2').digest());
    expect(access.digest()).not.to.equal(grant({ ...ALL, target, through: target }, '1').digest());
    expect(access.digest()).not.to.equal(grant({ ...ALL, target, where: KIND }, '1').digest());
    expect(access.slots).to.deep.equal({ a: '1' });
    const { slots, where, form: own, digest, values } = access.under('7');
    expect(slots).to.deep.equal({ a: '1', [PARENT.slot]: '7' });
    expect({ where, own }).to.deep.equal({ where: access.where, own: access.form });
    expect(digest()).to.equal(access.digest());
    expect(values()).to.equal(target.values());
  });
});
