/** Clients that change the same links at once, from both sides: no link is doubled or lost, and no client sees a deadlock. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { except } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { fillPeople, Membership, OVERRIDDEN, peopleApp } from './people.js';

const PEOPLE = [1, 2, 101, 102];
const GROUPS = [7, 8, 201, 202];

for (const way of ['statements', 'records'] as const)
  except(OVERRIDDEN).describe(`links that are changed at once by ${way}`, function () {
    this.timeout(60_000);
    const site = serveTestApp(() => peopleApp({ minPool: 4 }));
    const sql = (text: string) => site.engine.sequelize.query(text);
    const stored = async () => {
      const text = 'SELECT "personId", "groupId" FROM memberships ORDER BY 1, 2';
      return site.engine.sequelize.query<Membership>(text, { type: QueryTypes.SELECT, useMaster: true });
    };
    const on = <T>(work: () => PromiseLike<T>): Promise<T> =>
      way === 'statements'
        ? Promise.resolve(work())
        : withHook(Membership, 'beforeBulkCreate', () => {}, work);

    beforeEach(async () => {
      await sql(fillPeople);
      await sql(`INSERT INTO people (id, tenant, version) VALUES (101, 'A', 0), (102, 'A', 0)`);
      await sql(`INSERT INTO groups (id, tenant, version) VALUES (201, 'A', 0), (202, 'A', 0)`);
    });

    it('are set once, whoever sets them', () =>
      on(async () => {
        const answers = await Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            site.agent.put(index % 2 === 0 ? '/people/1/groups/7' : '/groups/7/members/1'),
          ),
        );
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(15).fill(200), 201]);
        expect(await stored()).to.deep.equal([{ personId: 1, groupId: 7 }]);
      }));

    it('are those of one of several replacements', () =>
      on(async () => {
        const sets = Array.from({ length: 16 }, (_, index) =>
          GROUPS.filter((_each, bit) => (index >> bit) & 1),
        );
        const answers = await Promise.all(
          sets.map((set) => site.agent.put('/people/1/groups').send(set.map((id) => ({ id })))),
        );
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(16).fill(200));
        const found = (await stored()).map(({ groupId }) => groupId);
        expect(sets).to.deep.include(found);
      }));

    it('are set, removed and replaced from both sides without a deadlock', () =>
      on(async () => {
        const all = (ids: readonly number[], from: number) =>
          ids.filter((_, index) => (index + from) % 3 > 0).map((id) => ({ id }));
        for (let round = 0; round < 4; round += 1) {
          const answers = await Promise.all(
            Array.from({ length: 16 }, (_, index) => {
              const [person, group] = [PEOPLE[index % 4], GROUPS[(index + round) % 4]];
              const turn = (index + round) % 5;
              if (turn === 0)
                return site.agent.put(`/people/${person}/groups/${group}`).send({ points: index });
              if (turn === 1) return site.agent.delete(`/groups/${group}/members/${person}?missing=ok`);
              if (turn === 2)
                return site.agent.post(`/people/${person}/groups`).send(all(GROUPS, index).reverse());
              if (turn === 3)
                return site.agent.put(`/groups/${group}/members`).send(all(PEOPLE, index).reverse());
              return site.agent.put(`/people/${person}/groups`).send(all(GROUPS, index));
            }),
          );
          const failed = answers.filter(({ status }) => status > 204);
          expect(failed.map(({ status, body }) => ({ status, body }))).to.deep.equal([]);
        }
      }));

    it('lead to no target that is deleted meanwhile', () =>
      on(async () => {
        const answers = await Promise.all([
          ...PEOPLE.map((id) => site.agent.put(`/people/${id}/groups/7`)),
          site.agent.delete('/groups/7'),
          ...PEOPLE.map((id) => site.agent.post(`/people/${id}/groups`).send([{ id: 7 }])),
        ]);
        const [gone] = answers.splice(4, 1);
        expect(gone?.status).to.be.oneOf([204, 409]);
        expect(
          answers.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status)),
        ).to.deep.equal([]);
        const left = (await stored()).length;
        const found = await site.agent.get('/groups/7');
        expect(found.status === 404 ? left : 0).to.equal(0);
      }));
  });
