/** Attributes that only the table fills, by triggers: no statement writes them, answers show them as they are, and bodies have none. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, type ModelCtor, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, crudRouter, type ModelClass, Repository } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { attach, problemsOf } from '../../support/offline-models.js';
import { serveTables } from '../../support/serve-tables.js';

/** Options that TypeScript may refuse; JavaScript does not. */
const wrong = (options: object) => options as CrudOptions;

const FILLED = ['code', 'state', 'changes'] as const;

/** A default of the model is written by no statement either. */
@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  readOnly: [...FILLED],
  filterAllow: ['code', 'changes'],
  sortAllow: ['id', 'code'],
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare code: string;
  @Column({ type: DataType.STRING(20), defaultValue: 'of the model' }) declare state: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 7 }) declare changes: number;
}

/** Refuses what a statement writes into the columns. */
const TABLE = `
  CREATE TABLE parcels (id int PRIMARY KEY, name text NOT NULL, code text NOT NULL, state text, changes int NOT NULL);
  CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF TG_OP = 'INSERT' AND (NEW.code, NEW.state, NEW.changes) IS DISTINCT FROM (NULL, NULL, NULL)
      OR TG_OP = 'UPDATE' AND (NEW.code, NEW.state, NEW.changes) IS DISTINCT FROM (OLD.code, OLD.state, OLD.changes)
    THEN RAISE 'a statement wrote %', NEW; END IF;
    NEW.code := upper(NEW.name);
    NEW.changes := CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.changes + 1 END;
    RETURN NEW;
  END $f$;
  CREATE TRIGGER filling BEFORE INSERT OR UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION fill()`;

except(OF_MANY).describe('a column that only the table fills', () => {
  const { apps, query } = serveTables(TABLE, [Parcel]);
  const shown = (id: number, name: string, changes: number) => ({
    id,
    name,
    code: name.toUpperCase(),
    state: null,
    changes,
  });

  beforeEach(() => query('TRUNCATE parcels'));

  it('is shown as the table made it, by every write', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE parcels');
      expectJson(await agent.post('/parcels').send({ id: 1, name: 'a' }), 201, shown(1, 'a', 0));
      expectJson(await agent.patch('/parcels/1').send({ name: 'b' }), 200, shown(1, 'b', 1));
      expectJson(await agent.put('/parcels/1').send({ name: 'c' }), 200, shown(1, 'c', 2));
      expectJson(await agent.put('/parcels/2').send({ name: 'd' }), 201, shown(2, 'd', 0));
      expectJson(await agent.post('/parcels').send([{ id: 3, name: 'e' }]), 201, {
        items: [shown(3, 'e', 0)],
      });
      expectJson(await agent.patch('/parcels').send([{ id: 3, name: 'f' }]), 200, {
        items: [shown(3, 'f', 1)],
      });
      expectJson(await agent.get('/parcels/1'), 200, shown(1, 'c', 2));
      const found = await agent.get('/parcels?q=changes>0&sort=-code');
      expect(found.body.items).to.deep.equal([shown(3, 'f', 1), shown(1, 'c', 2)]);
    }
  });

  it('is in no body', async () => {
    for (const { agent, crud } of apps) {
      await agent.post('/parcels').send({ id: 1, name: 'a' });
      const values = { code: 'x', state: null, changes: 1 };
      const errors = (at = '') =>
        FILLED.map((name) => ({
          pointer: `${at}/${name}`,
          code: 'readOnly',
          detail: `${name} cannot be set.`,
        }));
      for (const [request, at] of [
        [agent.post('/parcels').send({ id: 9, name: 'a', ...values }), ''],
        [agent.patch('/parcels/1').send(values), ''],
        [agent.put('/parcels/1').send({ name: 'a', ...values }), ''],
        [agent.post('/parcels').send([{ id: 9, name: 'a', ...values }]), '/0'],
        [agent.patch('/parcels').send([{ id: 1, ...values }]), '/0'],
      ] as const) {
        const answer = await request;
        expectProblem(answer, 422, { detail: answer.body.detail, errors: errors(at) });
      }
      const { schemas } = crud.openapi().components;
      expect(Object.keys(schemas['ParcelCreate']?.properties ?? {})).to.deep.equal(['id', 'name']);
      expect(schemas['ParcelUpdate']?.properties).to.have.all.keys('name');
      expect(schemas['ParcelRead']?.properties).to.include.all.keys(...FILLED);
    }
  });

  it('is written by no repository either', async () => {
    const parcels = new Repository(Parcel);
    expect((await parcels.create({ id: 1, name: 'a' })).get()).to.deep.equal(shown(1, 'a', 0));
    expect((await parcels.update(1, { name: 'b' })).get()).to.deep.equal(shown(1, 'b', 1));
  });

  it('is refused where it is none', async () => {
    const cases: readonly (readonly [CrudOptions, string])[] = [
      [
        wrong({ readOnly: ['nmae'] }),
        "readOnly names 'nmae', which is not an attribute. Did you mean 'name'? The attributes are id, name, tenant, updatedAt.",
      ],
      [
        { readOnly: true, endpoints: ['list', 'create'] },
        "readOnly is true, and endpoints has 'create', which writes; remove one of the two.",
      ],
      [
        wrong({ readOnly: 'name' }),
        'readOnly is "name"; use true, or a list of attributes that only the table fills.',
      ],
      [
        { readOnly: ['updatedAt'] },
        "readOnly names 'updatedAt', which Sequelize writes; leave it out, as no body may set it, or turn it off in @Table (such as " +
          'updatedAt: false) and declare the attribute with @Column, so that only the table writes it.',
      ],
      [
        { readOnly: ['tenant'], scope: { tenant: () => 1 } },
        "readOnly names 'tenant', which scope sets in new records; remove one of the two.",
      ],
      [
        { readOnly: ['name'], fields: { name: { write: false } } },
        "readOnly names 'name', and fields has a rule for writing it; remove one of the two.",
      ],
      [
        { readOnly: ['name'], set: { name: () => 'x' } },
        "set names 'name', which no request writes; use an attribute with a value of its own.",
      ],
    ];
    for (const [options, problem] of cases) {
      class Wrong extends NumberedRow {
        @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
        @Column(DataType.INTEGER) declare tenant: number;
        @Column(DataType.DATE) declare updatedAt: Date;
      }
      Table({ tableName: 'wrong', createdAt: false })(Wrong);
      Crud(options)(Wrong);
      expect(problemsOf(attach(Wrong as ModelCtor) as ModelClass, options)).to.deep.equal([
        `Wrong: ${problem}`,
      ]);
    }
    const elsewhere = await caughtError(async () => crudRouter(Parcel, { readOnly: ['name'] }));
    expect(Object(elsewhere).problems).to.deep.equal([
      'Parcel: readOnly is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
    ]);
  });
});
