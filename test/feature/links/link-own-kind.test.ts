/** Links between records of one model, changed at once from both sides: each row is locked in one order, so that no client sees a deadlock. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { BelongsToMany, Column, DataType, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';
import { untilLocked } from '../../support/until-locked.js';
import { withHook } from '../../support/with-hook.js';
import { OVERRIDDEN } from './people.js';

@Crud({
  links: { parts: { steal: true, touch: true }, uses: { touch: true }, usedBy: { touch: true } },
})
@Table({ tableName: 'things', timestamps: false, version: true })
class Thing extends NumberedRow {
  @ForeignKey(() => Thing) @Column(DataType.INTEGER) declare wholeId: number | null;
  @HasMany(() => Thing, 'wholeId') declare parts?: Thing[];
  @BelongsToMany(
    () => Thing,
    () => Use,
    'userId',
    'usedId',
  )
  declare uses?: Thing[];
  @BelongsToMany(
    () => Thing,
    () => Use,
    'usedId',
    'userId',
  )
  declare usedBy?: Thing[];
}

@Table({ tableName: 'uses', timestamps: false })
class Use extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare userId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare usedId: number;
}

/** Each leads to others, and is led to by another one. */
@Crud({ links: { desks: { steal: true, touch: true } } })
@Table({ tableName: 'rooms', timestamps: false, version: true })
class Room extends NumberedRow {
  @ForeignKey(() => Desk) @Column(DataType.INTEGER) declare deskId: number | null;
  @HasMany(() => Desk, { foreignKey: 'roomId', constraints: false }) declare desks?: unknown[];
}

@Crud({ links: { rooms: { steal: true, touch: true } } })
@Table({ tableName: 'desks', timestamps: false, version: true })
class Desk extends NumberedRow {
  @ForeignKey(() => Room) @Column(DataType.INTEGER) declare roomId: number | null;
  @HasMany(() => Room, { foreignKey: 'deskId', constraints: false }) declare rooms?: unknown[];
}

const IDS = [1, 2, 3, 4];
const ROUNDS = wholeOr(3, 6);

for (const way of ['statements', 'records'] as const)
  except(OVERRIDDEN).describe(`links of records of one model, changed at once by ${way}`, function () {
    this.timeout(60_000);
    const site = serveTestApp(() => ({ models: [Thing, Use], minPool: 8, bootstrap: { models: [Thing] } }));
    const rows = <T extends object>(text: string) =>
      site.engine.sequelize.query<T>(text, { type: QueryTypes.SELECT, useMaster: true });
    const hooks = (work: () => PromiseLike<void>): Promise<void> =>
      way === 'statements'
        ? Promise.resolve(work())
        : withHook(
            Thing,
            'beforeUpdate',
            () => {},
            () => withHook(Use, 'beforeCreate', () => {}, work),
          );
    const expectDone = async (requests: readonly PromiseLike<{ status: number; body: unknown }>[]) => {
      const answers = await Promise.all(requests);
      const failed = answers.filter(({ status }) => status > 204);
      expect(failed.map(({ status, body }) => ({ status, body }))).to.deep.equal([]);
    };
    const some = (from: number) => IDS.filter((_, index) => (index + from) % 3 > 0).map((id) => ({ id }));

    beforeEach(() =>
      site.engine.sequelize.query(
        'TRUNCATE things, uses; INSERT INTO things (id, version) VALUES (1, 0), (2, 0), (3, 0), (4, 0)',
      ),
    );

    it('are set by each of two records to the other', () =>
      hooks(async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          await expectDone(
            Array.from({ length: 16 }, (_, index) =>
              index % 2 === 0 ? site.agent.put('/things/1/parts/2') : site.agent.put('/things/2/parts/1'),
            ),
          );
          expect(await rows('SELECT id, "wholeId" FROM things WHERE id < 3 ORDER BY 1')).to.deep.equal([
            { id: 1, wholeId: 2 },
            { id: 2, wholeId: 1 },
          ]);
          await expectDone([site.agent.delete('/things/1/parts/2'), site.agent.delete('/things/2/parts/1')]);
        }
        // Each new link raised the version of its record once as a whole and once as a part; so did each removal.
        const [one] = await rows<{ version: number }>('SELECT version FROM things WHERE id = 1');
        expect(one?.version).to.equal(4 * ROUNDS);
      }));

    it('are set, removed and replaced for parts', () =>
      hooks(async () => {
        for (let round = 0; round < ROUNDS; round += 1)
          await expectDone(
            Array.from({ length: 16 }, (_, index) => {
              const [whole, part] = [IDS[index % 4], IDS[(index + round + 1) % 4]];
              const turn = (index + round) % 5;
              const parts = `/things/${whole}/parts`;
              if (turn === 0) return site.agent.put(`${parts}/${part}`);
              if (turn === 1) return site.agent.delete(`${parts}/${part}?missing=ok`);
              if (turn === 2) return site.agent.post(parts).send(some(index).reverse());
              return site.agent.put(parts).send(turn === 3 ? some(index) : []);
            }),
          );
      }));

    it('are set, removed and replaced from both sides of a join model', () =>
      hooks(async () => {
        for (let round = 0; round < ROUNDS; round += 1)
          await expectDone(
            Array.from({ length: 16 }, (_, index) => {
              const [thing, other] = [IDS[index % 4], IDS[(index + round) % 4]];
              const turn = (index + round) % 5;
              const [uses, usedBy] = [`/things/${thing}/uses`, `/things/${thing}/used-by`];
              if (turn === 0) return site.agent.put(`${uses}/${other}`);
              if (turn === 1) return site.agent.delete(`${usedBy}/${other}?missing=ok`);
              if (turn === 2) return site.agent.post(usedBy).send(some(index).reverse());
              return site.agent.put(turn === 3 ? uses : usedBy).send(some(index));
            }),
          );
      }));
  });

except(OVERRIDDEN).describe('links of two models that lead to each other', () => {
  const site = serveTestApp(() => ({ models: [Room, Desk], minPool: 4 }));
  const fill =
    'INSERT INTO rooms (id, version) VALUES (1, 0), (2, 0); INSERT INTO desks (id, version) VALUES (1, 0), (2, 0)';

  beforeEach(() => site.engine.sequelize.query(`TRUNCATE rooms, desks; ${fill}`));

  for (const [path, body] of [
    ['/rooms/1/desks/2', undefined],
    ['/rooms/1/desks', [{ id: 2 }]],
    ['/desks/2/rooms/1', undefined],
    ['/desks/2/rooms', [{ id: 1 }]],
  ] as const)
    it(`lock the rows of the first table first: PUT ${path}`, async () => {
      const { sequelize } = site.engine;
      const transaction = await sequelize.transaction();
      const lock = (table: string, id: number) =>
        sequelize.query(`SELECT FROM ${table} WHERE id = ${id} FOR UPDATE NOWAIT`, { transaction });
      await lock('desks', 2);
      const answer = Promise.resolve(site.agent.put(path).send(body));
      await untilLocked(sequelize);
      // The request has not locked it.
      await lock('rooms', 1);
      await transaction.commit();
      expect((await answer).status).to.be.oneOf([200, 201]);
      const { body: desk } = await site.agent.get('/desks/2');
      const { body: room } = await site.agent.get('/rooms/1');
      expect([desk.roomId, room.deskId]).to.deep.equal(path.startsWith('/rooms') ? [1, null] : [null, 2]);
    });

  it('are replaced as a whole', async () => {
    const both = [{ id: 1 }, { id: 2 }];
    await site.agent.put('/rooms/1/desks').send(both).expect(200);
    await site.agent.put('/desks/1/rooms').send(both).expect(200);
    const { body } = await site.agent.put('/rooms/1/desks').send([{ id: 2 }]);
    expect(body).to.deep.equal({ items: [{ id: '2' }], added: 0, removed: 1 });
    const { body: others } = await site.agent.put('/desks/1/rooms').send([]);
    expect(others).to.deep.equal({ items: [], added: 0, removed: 2 });
    await site.agent.put('/desks/9/rooms/1').expect(404);
    await site.agent.put('/rooms/9/desks/1').expect(404);
  });
});
