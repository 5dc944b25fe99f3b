/** Links of many-to-many: set, removed, added and replaced, from both sides, by statements and by hooks. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { except } from '../../support/combination.js';
import {
  expectIssue,
  expectJson,
  expectNoMethod,
  expectNothing,
  expectProblem,
} from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { fillPeople, Membership, OVERRIDDEN, peopleApp } from './people.js';

const NO_GROUP = { detail: 'There is no Group with this id.' };
const NO_LINK = { detail: 'There is no such link of this Person.' };

for (const way of ['statements', 'records'] as const)
  except(OVERRIDDEN).describe(`links of many-to-many by ${way}`, () => {
    const site = serveTestApp(() => peopleApp());

    const query = (text: string) => site.engine.sequelize.query(text, { type: QueryTypes.SELECT });
    const stored = async (person = 1) =>
      (await query(`SELECT "groupId" AS id FROM memberships WHERE "personId" = ${person} ORDER BY 1`)).map(
        (row) => (row as { id: number }).id,
      );
    const on = <T>(work: () => PromiseLike<T>): Promise<T> =>
      way === 'statements'
        ? Promise.resolve(work())
        : withHook(Membership, 'beforeBulkCreate', () => {}, work);

    beforeEach(() => site.engine.sequelize.query(fillPeople));

    it('set one, and once', () =>
      on(async () => {
        const link = { id: '7', role: 'member', points: null };
        expectJson(await site.agent.put('/people/1/groups/7'), 201, link);
        expectJson(await site.agent.put('/people/1/groups/7'), 200, link);
        expectJson(await site.agent.put('/people/1/groups/7').send({}), 200, link);
        const owner = { id: '7', role: 'owner', points: 3 };
        expectJson(await site.agent.put('/people/1/groups/7').send({ role: 'owner', points: 3 }), 200, owner);
        expectJson(await site.agent.put('/people/1/groups/7'), 200, owner);
        expect(await stored()).to.deep.equal([7]);
        const { body } = await site.agent.get('/people/1/groups');
        expect(body.items).to.deep.equal([
          {
            id: 7,
            tenant: 'A',
            name: 'ops',
            isSecret: false,
            version: 0,
            link: { role: 'owner', points: 3 },
          },
        ]);
        const some = await site.agent.get('/people/1/groups?fields=name');
        expect(some.body.items).to.deep.equal([{ name: 'ops', link: { role: 'owner', points: 3 } }]);
      }));

    it('set none that is there, where If-None-Match says so', () =>
      on(async () => {
        const set = () =>
          site.agent.put('/people/1/groups/7').set('If-None-Match', '*').send({ role: 'new' });
        expect((await set()).status).to.equal(201);
        expectProblem(await set(), 412, {
          detail: 'This link is there, and nothing was done; leave If-None-Match out.',
        });
        expectProblem(await site.agent.delete('/people/1/groups/7').set('If-None-Match', '*'), 412, {
          detail: 'If-None-Match names a state that links do not have, and nothing was done; leave it out.',
        });
        expect(await stored()).to.deep.equal([7]);
      }));

    it('remove one, or say that it was not there', () =>
      on(async () => {
        await site.agent.put('/people/1/groups/7');
        expectNothing(await site.agent.delete('/people/1/groups/7'), 204);
        expectProblem(await site.agent.delete('/people/1/groups/7'), 404, NO_LINK);
        expectNothing(await site.agent.delete('/people/1/groups/7?missing=ok'), 204);
        expectIssue(await site.agent.delete('/people/1/groups/7?missing=no'), 400, {
          parameter: 'missing',
          code: 'missing.unknown',
          detail: "Parameter 'missing' is 'no'; it accepts 'ok'.",
          allowed: ['ok'],
        } as never);
      }));

    it('add many, and leave those that are there as they are', () =>
      on(async () => {
        await site.agent.put('/people/1/groups/8').send({ role: 'owner' });
        const items = [
          { id: '7', role: 'guest', points: null },
          { id: '8', role: 'owner', points: null },
        ];
        const sent = [
          { id: 7, role: 'guest' },
          { id: '8', role: 'guest' },
        ];
        expectJson(await site.agent.post('/people/1/groups').send(sent), 200, { items, added: 1 });
        expectJson(await site.agent.post('/people/1/groups').send(sent), 200, { items, added: 0 });
      }));

    it('replace all, in the order of the body', () =>
      on(async () => {
        await site.agent.put('/people/1/groups/7');
        const replace = (body: object) => site.agent.put('/people/1/groups').send(body);
        expectJson(await replace([{ id: 8, points: 1 }]), 200, {
          items: [{ id: '8', role: 'member', points: 1 }],
          added: 1,
          removed: 1,
        });
        expectJson(await replace([{ id: 8, points: 2 }, { id: 7 }]), 200, {
          items: [
            { id: '8', role: 'member', points: 2 },
            { id: '7', role: 'member', points: null },
          ],
          added: 1,
          removed: 0,
        });
        expectJson(await replace([]), 200, { items: [], added: 0, removed: 2 });
        expect(await stored()).to.deep.equal([]);
      }));

    it('replace only links to what the request sees', () =>
      on(async () => {
        await site.engine.sequelize.query(
          `INSERT INTO memberships ("personId", "groupId", "createdAt") VALUES (1, 7, now()), (1, 9, now()), (1, 10, now())`,
        );
        expectJson(await site.agent.put('/people/1/groups').send([]), 200, {
          items: [],
          added: 0,
          removed: 1,
        });
        expect(await stored()).to.deep.equal([9, 10]);
        expectProblem(await site.agent.delete('/people/1/groups/9'), 404, NO_LINK);
        expect(await stored()).to.deep.equal([9, 10]);
      }));

    it('tell nothing of targets that are hidden, of another tenant, or of nobody', () =>
      on(async () => {
        const texts = await Promise.all(
          [9, 10, 99, 99_999_999_999].map((id) => site.agent.put(`/people/1/groups/${id}`)),
        );
        for (const answer of texts) expectProblem(answer, 409, NO_GROUP);
        const many = await Promise.all(
          [9, 10, 99, 99_999_999_999].map((id) =>
            site.agent.post('/people/1/groups').send([{ id: 7 }, { id }]),
          ),
        );
        for (const answer of many)
          expectProblem(answer, 409, {
            ...NO_GROUP,
            errors: [{ pointer: '/1/id', code: 'foreignKey', detail: NO_GROUP.detail }],
          });
        for (const id of [9, 10, 99, 8])
          expectProblem(await site.agent.delete(`/people/1/groups/${id}`), 404, NO_LINK);
        expect(await stored()).to.deep.equal([]);
      }));

    it('need a record that the request sees, and may change', () =>
      on(async () => {
        const missing = { detail: 'There is no Person with this id.' };
        for (const id of [3, 99, 99_999_999_999]) {
          expectProblem(await site.agent.put(`/people/${id}/groups/7`), 404, missing);
          expectProblem(await site.agent.delete(`/people/${id}/groups/7?missing=ok`), 404, missing);
          expectProblem(await site.agent.put(`/people/${id}/groups`).send([]), 404, missing);
        }
        expectProblem(await site.agent.put('/people/1/groups/7').set('user', 'guest'), 403, {
          detail: 'This request may not change the links of Person.',
        });
        expect((await site.agent.put('/people/1/groups/7').set('user', 'owner')).status).to.equal(201);
        expectProblem(await site.agent.put('/people/2/groups/7').set('user', 'owner'), 403, {
          detail: 'This request may not update this Person.',
        });
        expect(await stored(2)).to.deep.equal([]);
      }));

    it('follow rules of their relation', async () => {
      // A guest may add a badge, though not change a person.
      const guest = { user: 'guest' };
      expectJson(await site.agent.put('/people/1/badges/red').set(guest), 201, { id: 'red' });
      const refused = { detail: 'This request may not change the links of Person.' };
      expectProblem(await site.agent.delete('/people/1/badges/red').set(guest), 403, refused);
      expectProblem(await site.agent.put('/people/1/badges').set(guest).send([]), 403, refused);
      expectNothing(await site.agent.delete('/people/1/badges/red').set('user', 'staff'), 204);
    });

    it('name a target by its address, once, and none that is deleted', async () => {
      const replace = (body: object) => site.agent.put('/people/1/badges').set('user', 'staff').send(body);
      expectJson(await replace([{ id: 'RED' }, { id: 'green' }]), 200, {
        items: [{ id: 'red' }, { id: 'green' }],
        added: 2,
        removed: 0,
      });
      expectProblem(await site.agent.put('/people/1/badges/gone'), 409, {
        detail: 'There is no Badge with this code.',
      });
      const detail = 'id is that of another item, too; a link may stand in a body once.';
      expectProblem(await replace([{ id: 'red' }, { id: 'blue' }, { id: 'Red' }]), 422, {
        detail: 'The body has 2 problems.',
        errors: [0, 2].map((place) => ({ pointer: `/${place}/id`, code: 'repeated', detail })),
      });
      const { body } = await site.agent.get('/people/1/badges');
      expect(body.items).to.deep.equal(
        [
          { id: 1, code: 'red', deletedAt: null },
          { id: 2, code: 'green', deletedAt: null },
        ].map(({ deletedAt: _, ...item }) => ({ ...body.items[0], ...item })),
      );
    });

    it('validate attributes by the rules of the join model', () =>
      on(async () => {
        const put = (body: object) => site.agent.put('/people/1/groups/7').send(body);
        const role = {
          pointer: '/role',
          code: 'maxLength',
          detail: 'role must be at most 10 characters long.',
        };
        expectIssue(await put({ role: 'x'.repeat(11) }), 422, role);
        expectIssue(await put({ groupId: 8 }), 422, {
          pointer: '/groupId',
          code: 'readOnly',
          detail: 'groupId cannot be set.',
        });
        expectIssue(await put({ createdAt: '2026-01-01' }), 422, {
          pointer: '/createdAt',
          code: 'readOnly',
          detail: 'createdAt cannot be set.',
        });
        expect((await put({ rool: 1 })).body.errors[0]).to.include({
          pointer: '/rool',
          code: 'unknownProperty',
        });
        expect((await put({ role: null })).body.errors[0]).to.include({
          pointer: '/role',
          code: 'isDefined',
        });
        const many = await site.agent
          .post('/people/1/groups')
          .send([{ id: 7, role: 'x'.repeat(11) }, { id: {} }, 'x', { id: 'x', role: 5 }]);
        expect(many.status).to.equal(422);
        expect(many.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
          '/0/role',
          '/1/id',
          '/2',
          '/3/id',
          '/3/role',
        ]);
        // Of the other side fields names role alone.
        expect((await site.agent.put('/groups/7/members/1').send({ points: 1 })).body.errors[0]).to.include({
          code: 'readOnly',
        });
        expectJson(await site.agent.put('/groups/7/members/1').send({ role: 'boss' }), 201, {
          id: '1',
          role: 'boss',
        });
        expectJson(await site.agent.put('/people/1/groups/7'), 200, { id: '7', role: 'boss', points: null });
      }));

    it('raise the version of their record where touch says so, and check it', () =>
      on(async () => {
        const put = (tag: string) => site.agent.put('/groups/7/members/1').set('If-Match', tag);
        expect((await put('"0"')).status).to.equal(201);
        expect((await site.agent.get('/groups/7')).headers['etag']).to.match(/^"1/);
        expectProblem(await put('"0"'), 412, {
          detail: 'The Group has been changed since; read it again, and repeat the change.',
        });
        // Nothing has changed.
        expect((await put('"1"')).status).to.equal(200);
        expect((await site.agent.put('/groups/7/members').send([{ id: 1, role: 'member' }])).body).to.include(
          {
            added: 0,
            removed: 0,
          },
        );
        expect((await site.agent.get('/groups/7')).headers['etag']).to.match(/^"1/);
        expectNothing(await site.agent.delete('/groups/7/members/1').set('If-Match', '"1"'), 204);
        expect((await site.agent.get('/groups/7')).headers['etag']).to.match(/^"2/);
        // The other side has no touch.
        expectProblem(await site.agent.put('/people/1/groups/7').set('If-Match', '"0"'), 412, {
          detail: 'If-Match names a state that links do not have, and nothing was done; leave it out.',
        });
        await site.agent.put('/people/1/groups/7');
        expect((await site.agent.get('/people/1')).headers['etag']).to.match(/^"0/);
      }));

    it('are undone by a dry run', () =>
      on(async () => {
        expectJson(await site.agent.put('/people/1/groups?dry_run=true').send([{ id: 7 }]), 200, {
          items: [{ id: '7', role: 'member', points: null }],
          added: 1,
          removed: 0,
        });
        expect((await site.agent.put('/people/1/groups/7?dry_run=true')).status).to.equal(201);
        expect(await stored()).to.deep.equal([]);
      }));

    it('are a thousand in a replacement, and up to max in a POST', () =>
      on(async () => {
        await site.engine.sequelize.query(
          `INSERT INTO groups (id, tenant, version) SELECT n, 'A', 0 FROM generate_series(101, 1101) AS n`,
        );
        const some = (count: number) => Array.from({ length: count }, (_, index) => ({ id: 101 + index }));
        const whole = await site.agent.put('/people/1/groups').send(some(way === 'statements' ? 1000 : 20));
        expect(whole.body).to.include({ added: whole.body.items.length, removed: 0 });
        expect((await stored()).length).to.equal(whole.body.items.length);
        expectProblem(await site.agent.put('/people/1/groups').send(some(1001)), 413, {
          detail: 'The body has 1001 items; at most 1000 are accepted.',
          errors: [
            { pointer: '', code: 'tooMany', detail: 'The body has 1001 items; at most 1000 are accepted.' },
          ],
        });
        expect((await site.agent.post('/people/1/groups').send(some(101))).status).to.equal(413);
        expect(
          (await site.agent.post('/people/1/badges').send([1, 2, 3, 4].map((id) => ({ id })))).status,
        ).to.equal(413);
        expect((await site.agent.post('/people/1/groups').send([])).status).to.equal(400);
        expect((await site.agent.put('/people/1/groups').send({ id: 7 })).body.errors[0].code).to.equal(
          'isArray',
        );
        await site.engine.sequelize.query(
          `INSERT INTO memberships ("personId", "groupId", "createdAt") SELECT 2, n, now() FROM generate_series(101, 1101) AS n`,
        );
        expectProblem(await site.agent.put('/people/2/groups').send([]), 409, {
          detail:
            'This Person has more than 1000 groups, and nothing was done; remove some of them one by one.',
        });
      }));
  });

except(OVERRIDDEN).describe('the paths of links', () => {
  const site = serveTestApp(() => peopleApp());

  before(() => site.engine.sequelize.query(fillPeople));

  it('have these methods, and no others', async () => {
    const one = 'PUT, DELETE, OPTIONS';
    expectNoMethod(await site.agent.get('/people/1/groups/7'), 'GET', one);
    expectNoMethod(await site.agent.patch('/people/1/groups/7'), 'PATCH', one);
    expect((await site.agent.options('/people/1/groups/7')).headers['allow']).to.equal(one);
    expect((await site.agent.options('/people/1/groups')).headers['allow']).to.equal(
      'GET, HEAD, POST, PUT, OPTIONS',
    );
    expect((await site.agent.head('/people/1/groups')).status).to.equal(200);
    expectNoMethod(await site.agent.delete('/people/1/groups'), 'DELETE', 'GET, HEAD, POST, PUT, OPTIONS');
    expectIssue(await site.agent.put('/people/1/groups/x'), 400, {
      parameter: 'target',
      code: 'id',
      detail: "'x' is not a valid id; it must be an integer.",
    });
  });

  it('are in the document', async () => {
    const { body } = await site.agent.get('/openapi.json');
    const { get, post, put } = body.paths['/people/{id}/groups'];
    const one = body.paths['/people/{id}/groups/{target}'];
    expect([get, post, put, one.put, one.delete].map(({ operationId }) => operationId)).to.deep.equal([
      'listPersonGroups',
      'addPersonGroups',
      'replacePersonGroups',
      'linkPersonGroups',
      'unlinkPersonGroups',
    ]);
    const { items } = post.requestBody.content['application/json'].schema;
    expect(Object.keys(items.properties)).to.deep.equal(['id', 'role', 'points']);
    expect(Object.keys(one.put.responses).filter((status) => status < '300')).to.deep.equal(['200', '201']);
    expect(get.responses['200'].content['application/json'].schema.allOf).to.have.length(2);
    expect(
      body.paths['/people/{id}/badges'].get.responses['200'].content['application/json'].schema,
    ).to.have.property('$ref');
    expect(body.paths['/people/{id}/badges/{target}'].put).to.not.have.property('requestBody');
  });

  it('are in the table of routes', () => {
    const routes = site.crud.routes.filter(({ operation }) => operation === 'links');
    expect(
      routes.filter(({ resource }) => resource === 'Person').map(({ method, path }) => `${method} ${path}`),
    ).to.have.members([
      'PUT /people/:id/groups/:target',
      'DELETE /people/:id/groups/:target',
      'POST /people/:id/groups',
      'PUT /people/:id/groups',
      'PUT /people/:id/badges/:target',
      'DELETE /people/:id/badges/:target',
      'POST /people/:id/badges',
      'PUT /people/:id/badges',
    ]);
  });
});
