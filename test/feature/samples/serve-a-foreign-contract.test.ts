/** The sample `blog`, as its clients meet it: a process, and each route of the contract, in the order of a visit. */
// @runs fast
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { Program } from '../../support/program.js';

const MAIN = join(__dirname, '../../../sample/blog/main.js');

const ann = { username: 'ann', email: 'ann@example.org', bio: null, image: null };
const bob = { username: 'bob b', email: 'bob@example.org', bio: null, image: null };
const profile = ({ username }: { username: string }, following = false, bio: string | null = null) => ({
  username,
  bio,
  image: null,
  following,
});
const dates = { createdAt: 'a date', updatedAt: 'a date' };
const rye = {
  slug: 'rye-bread',
  title: 'Rye bread',
  description: 'How to',
  body: 'Knead.',
  tagList: ['bread', 'slow'],
  ...dates,
  favorited: false,
  favoritesCount: 0,
  author: profile(ann),
};
const cake = {
  ...rye,
  slug: 'cake-2',
  title: 'Cake, "2"',
  tagList: [],
  author: profile(bob),
};
const comment = { id: 1, ...dates, body: 'Tasty' };
const annSent = { ...ann, password: 'a long secret' };
const sent = ({ title, description, body, tagList }: typeof rye) => ({ title, description, body, tagList });

type Step = readonly [
  route: string,
  who: 'ann' | 'bob' | '-',
  body: object | null,
  status: number,
  answer: unknown,
];

/** Answers in turn: later steps read the rows that earlier ones wrote. */
const STEPS: readonly Step[] = [
  ['POST /users', '-', { user: annSent }, 201, { user: { ...ann, token: 'a token' } }],
  [
    'POST /users',
    '-',
    { user: { ...bob, password: 'another secret' } },
    201,
    { user: { ...bob, token: 'a token' } },
  ],
  [
    'POST /users',
    '-',
    { user: { ...annSent, username: 'ann2' } },
    409,
    { errors: { email: ['Another User has the same email.'] } },
  ],
  [
    'POST /users',
    '-',
    { user: { ...annSent, email: 'ann', password: 'short' } },
    422,
    {
      errors: {
        email: ['email must be an email.'],
        password: ['password must be longer than or equal to 8 characters.'],
      },
    },
  ],
  [
    'POST /users/login',
    '-',
    { user: { email: ann.email, password: 'wrong' } },
    401,
    { errors: { request: ['There is no such user, or the password is another one.'] } },
  ],
  [
    'POST /users/login',
    '-',
    { user: { email: ann.email, password: 'a long secret' } },
    200,
    { user: { ...ann, token: 'a token' } },
  ],
  ['GET /user', '-', null, 401, { errors: { request: ['Sign in first.'] } }],
  ['GET /user', 'ann', null, 200, { user: { ...ann, token: 'a token' } }],
  ['PUT /user', 'ann', { user: { bio: 'Bakes' } }, 200, { user: { ...ann, bio: 'Bakes', token: 'a token' } }],
  ['PUT /user', 'ann', { user: { bio: null } }, 200, { user: { ...ann, token: 'a token' } }],
  ['GET /profiles/ann', '-', null, 200, { profile: profile(ann) }],
  ['GET /profiles/nobody', '-', null, 404, { errors: { request: ['There is no User with this username.'] } }],
  ['GET /users/ann', 'bob', null, 200, { id: 1, username: 'ann', bio: null, image: null }],
  [
    'PATCH /users/ann',
    'bob',
    { user: { bio: 'Hacked' } },
    403,
    { errors: { request: ['This request may not update this User.'] } },
  ],
  ['POST /profiles/bob%20b/follow', '-', null, 401, { errors: { request: ['Sign in first.'] } }],
  ['POST /profiles/bob%20b/follow', 'ann', null, 200, { profile: profile(bob, true) }],
  ['GET /profiles/bob%20b', 'ann', null, 200, { profile: profile(bob, true) }],
  ['POST /articles', '-', { article: sent(rye) }, 401, { errors: { request: ['Sign in first.'] } }],
  ['POST /articles', 'ann', { article: sent(rye) }, 201, { article: rye }],
  ['POST /articles', 'bob', { article: sent(cake) }, 201, { article: cake }],
  [
    'POST /articles',
    'bob',
    { article: { ...sent(cake), title: undefined, authorId: 1 } },
    422,
    { errors: { authorId: ['authorId cannot be set.'], title: ['title is required.'] } },
  ],
  [
    'POST /articles/rye-bread/favorite',
    'bob',
    null,
    200,
    { article: { ...rye, favorited: true, favoritesCount: 1 } },
  ],
  ['GET /articles', '-', null, 200, { articles: [cake, { ...rye, favoritesCount: 1 }], articlesCount: 2 }],
  [
    'GET /articles?limit=1&offset=1',
    '-',
    null,
    200,
    { articles: [{ ...rye, favoritesCount: 1 }], articlesCount: 2 },
  ],
  [
    'GET /articles?tag=slow',
    'bob',
    null,
    200,
    { articles: [{ ...rye, favorited: true, favoritesCount: 1 }], articlesCount: 1 },
  ],
  [
    'GET /articles?author=bob%20b',
    'ann',
    null,
    200,
    { articles: [{ ...cake, author: profile(bob, true) }], articlesCount: 1 },
  ],
  [
    'GET /articles?favorited=bob%20b',
    '-',
    null,
    200,
    { articles: [{ ...rye, favoritesCount: 1 }], articlesCount: 1 },
  ],
  ['GET /articles?favorited=ann', '-', null, 200, { articles: [], articlesCount: 0 }],
  ['GET /articles?tga=slow', '-', null, 400, undefined],
  ['GET /articles/feed', '-', null, 401, { errors: { request: ['Sign in first.'] } }],
  [
    'GET /articles/feed',
    'ann',
    null,
    200,
    { articles: [{ ...cake, author: profile(bob, true) }], articlesCount: 1 },
  ],
  ['GET /articles/feed', 'bob', null, 200, { articles: [], articlesCount: 0 }],
  ['DELETE /articles/rye-bread/favorite', 'bob', null, 200, { article: rye }],
  ['GET /articles/rye-bread', '-', null, 200, { article: rye }],
  [
    'PUT /articles/rye-bread',
    'bob',
    { article: { body: 'Hacked' } },
    403,
    { errors: { request: ['This request may not update this Article.'] } },
  ],
  [
    'PUT /articles/rye-bread',
    'ann',
    { article: { title: 'Rye loaf' } },
    200,
    { article: { ...rye, title: 'Rye loaf', slug: 'rye-loaf' } },
  ],
  [
    'GET /articles/rye-bread',
    '-',
    null,
    404,
    { errors: { request: ['There is no Article with this slug.'] } },
  ],
  [
    'POST /articles/rye-loaf/comments',
    'bob',
    { comment: { body: comment.body } },
    201,
    { comment: { ...comment, author: profile(bob) } },
  ],
  [
    'POST /articles/rye-loaf/comments',
    'bob',
    { comment: {} },
    422,
    { errors: { body: ['body must be a string.'] } },
  ],
  [
    'GET /articles/rye-loaf/comments',
    'ann',
    null,
    200,
    { comments: [{ ...comment, author: profile(bob, true) }] },
  ],
  [
    'DELETE /articles/rye-loaf/comments/1',
    'ann',
    null,
    403,
    { errors: { request: ['This request may not delete this Comment.'] } },
  ],
  ['DELETE /articles/rye-loaf/comments/1', 'bob', null, 204, ''],
  ['GET /articles/rye-loaf/comments', '-', null, 200, { comments: [] }],
  ['GET /tags', '-', null, 200, { tags: ['bread', 'slow'] }],
  [
    'DELETE /articles/rye-loaf',
    'bob',
    null,
    403,
    { errors: { request: ['This request may not delete this Article.'] } },
  ],
  ['DELETE /articles/rye-loaf', 'ann', null, 204, ''],
  ['DELETE /profiles/bob%20b/follow', 'ann', null, 200, { profile: profile(bob) }],
  ['GET /user', 'ann', null, 200, { user: { ...ann, token: 'a token' } }],
];

describe('the sample blog', () => {
  const database = forSuite(() => freshDatabase('blog'));
  const site = forSuite(
    () => new Program([MAIN], { env: { ...process.env, DATABASE_URL: database.url, PORT: '0' } }),
  );
  const tokens: Record<string, string> = {};

  for (const [index, [route, who, body, status, answer]] of STEPS.entries()) {
    it(`${index + 1}. answers ${status} to ${route} of ${who}`, async () => {
      await site.untilPrinted('http://');
      const base = /http:\/\/[\w.:]+\d/.exec(site.output)?.[0] ?? '';
      const [method = '', path = ''] = route.split(' ');
      const response = await fetch(`${base}/api${path}`, {
        method,
        headers: {
          ...(tokens[who] ? { Authorization: `Token ${tokens[who]}` } : {}),
          ...(body ? { 'Content-Type': 'application/json' } : {}),
        },
        body: body && JSON.stringify(body),
      });
      const text = await response.text();
      expect(response.status, text).to.equal(status);
      if (response.status < 300) {
        const [, token] = /"token":"([^"]+)"/.exec(text) ?? [];
        const [, name = ''] = /"username":"(\w+)/.exec(text) ?? [];
        if (token) tokens[name] = token;
      }
      const shown = text
        .replace(/"token":"[^"]+"/, '"token":"a token"')
        .replace(/"(createdAt|updatedAt)":"\d{4}-\d\d-\d\dT[^"]+Z"/g, '"$1":"a date"');
      if (answer !== undefined) expect(shown === '' ? '' : JSON.parse(shown)).to.deep.equal(answer);
    });
  }
});
