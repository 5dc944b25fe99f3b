/** Refused cursors: damage, other lists, forged values, other secrets. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { EntrySite, Item, ids, quiet } from '../../models/entries.js';
import { buildApp } from '../../support/build-app.js';
import { configError } from '../../support/config-error.js';
import { expectIssue } from '../../support/expect-answer.js';

const SECRET = 'a secret of at least 16 characters';

describe('refusing a cursor', () => {
  const site = new EntrySite();
  const { sql, ask, page } = site;

  const MALFORMED = {
    code: 'cursor.malformed',
    detail: 'This is not a cursor of this API; take it unchanged from next_cursor or prev_cursor.',
  };
  const MISMATCH = {
    code: 'cursor.mismatch',
    detail:
      'The cursor was made for another list: the resource, sort or q is not the same. Start again without a cursor.',
  };

  /** A cursor with other contents, as any client can make it where there is no secret. */
  function forged(cursor: string, change: (values: unknown[]) => unknown[]): string {
    const content = JSON.parse(Buffer.from(String(cursor.split('.')[0]), 'base64url').toString());
    const changed = JSON.stringify([...content.slice(0, 3), ...change(content.slice(3))]);
    const payload = Buffer.from(changed).toString('base64url');
    return `${payload}.${createHash('sha256').update(payload).digest('base64url').slice(0, 24)}`;
  }

  it('[D13] what is no cursor', async () => {
    const { next_cursor: cursor } = await page();
    const damaged = [cursor.slice(1), cursor.slice(0, -1), `${cursor}=`, cursor.toUpperCase()];
    const wrong = ['', 'x', '1', 'null', '..', ...damaged];
    for (const parameter of ['after', 'before']) {
      for (const text of wrong)
        expectIssue(await ask({ [parameter]: text }), 400, { parameter, ...MALFORMED });
    }
  });

  const accepted = 'It accepts after, before, size, sort, q, fields.';
  for (const [query, parameter, code, detail] of [
    ['after=…&before=…', 'before', 'exclusive', "Parameters 'after' and 'before' exclude each other."],
    ['after=…&after=…', 'after', 'repeated', "Parameter 'after' may be given once."],
    ['page=2', 'page', 'unknown', `This route has no parameter 'page'. ${accepted}`],
  ] as const) {
    it(`a query with ${query}`, async () => {
      const { next_cursor: cursor } = await page();
      const answer = await site.app.agent.get(`/items?${query.replaceAll('…', cursor)}`);
      expectIssue(answer, 400, { parameter, code, detail });
    });
  }

  it('[D13] the cursor of another sort, q, or resource', async () => {
    const { next_cursor: after } = await page({ sort: 'name', q: 'name!=x' });
    const [sort, q] = ['name', 'name!=x'];
    for (const query of [{ sort: '-name', q }, { sort }, { sort, q: 'name!=y' }, { q }])
      expectIssue(await ask({ ...query, after }), 400, { parameter: 'after', ...MISMATCH });
    expectIssue(await ask({ sort, q, after }, '/others'), 400, { parameter: 'after', ...MISMATCH });
    expect((await ask({ sort: '+name', q: ' name != "x"', after })).status).to.equal(200);
  });

  it('a cursor too large for any list, before the database', async () => {
    const { result, statements } = await sql.during(() => ask({ after: 'A'.repeat(14_000) }));
    expectIssue(result, 400, { parameter: 'after', ...MALFORMED });
    expect(statements).to.deep.equal([]);
  });

  const WRONG_VALUES: Readonly<Record<string, readonly (string | null)[]>> = {
    id: ['x', '', '1.5', '2147483648', "1'; --", ' ', '{}'],
    rank: ['x', '99999999999'],
    made: ['x', '2026-02-30 00:00:00+00', '2026-01-31T25:00:00Z', '999999-01-01'],
  };
  for (const [sort, values] of Object.entries(WRONG_VALUES)) {
    it(`a forged cursor with a value that ${sort} cannot have`, async () => {
      const { next_cursor: cursor } = await page({ sort });
      for (const value of values) {
        for (const parameter of ['after', 'before']) {
          const text = forged(cursor, ([, ...rest]) => [value, ...rest]);
          expectIssue(await ask({ sort, [parameter]: text }), 400, { parameter, ...MALFORMED });
        }
      }
    });
  }

  it('nothing of a forged cursor whose values are right', async () => {
    const { next_cursor: cursor } = await page();
    expect(ids(await page({ after: forged(cursor, () => ['3']) }))).to.deep.equal([4, 5]);
    expect(ids(await page({ after: forged(cursor, () => ['-2147483648']) }))).to.deep.equal([1, 2]);
  });

  it('a forged cursor with NULL for a key that has none', async () => {
    const { next_cursor: cursor } = await page();
    expect(ids(await page({ after: forged(cursor, () => [null]) }))).to.deep.equal([]);
  });

  describe('with a secret', () => {
    it('signs cursors, and refuses those that somebody else made', async () => {
      const options = { models: [Item], ...quiet };
      const signing = await buildApp({ ...options, cursorSecret: SECRET });
      const { body } = await signing.agent.get('/items');
      const path = `/items?after=${body.next_cursor}`;
      const { items } = (await signing.agent.get(path)).body;
      expect(items).to.deep.include.members([{ id: 3, name: 'c', rank: null, made: null }]);
      expect((await site.app.agent.get(path)).status).to.equal(400);
      const unsigned = await page();
      expect((await signing.agent.get(`/items?after=${unsigned.next_cursor}`)).status).to.equal(400);
    });

    it('takes cursors of the old secret while it is being changed', async () => {
      const options = { models: [Item], ...quiet };
      const old = await buildApp({ ...options, cursorSecret: SECRET });
      const changing = await buildApp({ ...options, cursorSecret: ['the new secret, as long', SECRET] });
      const done = await buildApp({ ...options, cursorSecret: 'the new secret, as long' });
      const made = await old.agent.get('/items');
      const taken = await changing.agent.get(`/items?after=${made.body.next_cursor}`);
      expect(taken.status).to.equal(200);
      const further = `/items?after=${taken.body.next_cursor}`;
      expect((await done.agent.get(further)).status).to.equal(200);
      expect((await old.agent.get(further)).status).to.equal(400);
    });

    it('does not start with one that can be guessed', async () => {
      for (const cursorSecret of ['', 'short', [], [SECRET, 'short'], 5 as never]) {
        const message = await configError(() => buildApp({ models: [Item], cursorSecret }));
        expect(message)
          .to.match(/cursorSecret/)
          .and.not.to.match(/'short'|a secret/);
      }
    });
  });
});
