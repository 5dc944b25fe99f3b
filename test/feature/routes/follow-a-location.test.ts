/** Keys that clients give: each `Location` leads to its record, and a key that could have none is refused. */
// @runs fast
import { expect } from 'chai';
import { IsString } from 'class-validator';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { exchange, requestHead } from '../../support/listen.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

class TermBody {
  @IsString() declare id: string;
}

const ENDPOINTS = ['list', 'read', 'create', 'delete', 'replace', 'createMany'] as const;

@Crud({ endpoints: ENDPOINTS })
@Table({ tableName: 'tags', timestamps: false })
class Tag extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

/** With a class of the user's that has no names of paths. */
@Crud({ endpoints: ENDPOINTS, createSchema: TermBody, updateSchema: TermBody })
@Table({ tableName: 'terms', timestamps: false })
class Term extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

const PATHS = ['/tags', '/terms'];
const LONGEST = 4000;

/** Signs that mean something in a path, in a header or to a proxy. */
const SIGNS = ' ./\\%?#;:@&=+$,!\'()*~"<>[]{}|^`-\t\r\n\u0001\u007f\u0080é\ufeff\u2028\u202e\u{1f642}';

const KEYS = [
  ...[...SIGNS]
    .flatMap((sign) => wholeOr([sign, `a${sign}b`], [sign, `${sign}${sign}`, `${sign}a`, `a${sign}b`]))
    .filter((key) => !/^\.{1,2}$/.test(key)),
  ...['...', '../a', '%2F', '%2E%2e', '%00', 'e\u0301', 'null', 'purge', 'http://a/b'],
  ...['a'.repeat(LONGEST), 'é'.repeat(666), '/'.repeat(1333)],
];

const NO_KEYS = [
  '',
  '.',
  '..',
  'a'.repeat(LONGEST + 1),
  'é'.repeat(667),
  '/'.repeat(1334),
  'a'.repeat(20_000),
];

const ISSUE = {
  pointer: '/id',
  code: 'isAddressable',
  detail:
    "id must be able to stand in a path: it cannot be empty, '.' or '..', or have over 4000 characters when percent-encoded.",
};

/** At the same time: each is about a record of its own. */
const each = (keys: readonly string[], work: (key: string) => Promise<void>) => Promise.all(keys.map(work));

except(OF_MANY).describe('following a Location', () => {
  const site = serveTestApp(() => ({ models: [Tag, Term], bootstrap: { logger: new CapturedLog() } }));

  beforeEach(() => emptyTables(site, 'tags', 'terms'));

  const send = (method: string, path: string, body?: unknown) =>
    fetch(new URL(path, site.server.url), {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  for (const path of PATHS) {
    for (const method of ['POST', 'PUT']) {
      it(`[B5] leads to the record with the key, whatever it is: ${method} ${path}`, () =>
        each(KEYS, async (id) => {
          const [at, body] = method === 'PUT' ? [`${path}/${encodeURIComponent(id)}`, {}] : [path, { id }];
          const created = await send(method, at, body);
          expect(created.status, id).to.equal(201);
          const location = created.headers.get('Location') ?? '';
          const found = await send('GET', location);
          expect([found.status, await found.json()], id).to.deep.equal([200, { id }]);
          expect((await send('DELETE', location)).status, id).to.equal(204);
        }));
    }

    it(`[B5] cannot lead to some, which are refused: POST ${path}`, async () => {
      for (const id of NO_KEYS) {
        const one = await send('POST', path, { id });
        expect([one.status, await one.json()], id).to.deep.equal([
          422,
          { detail: ISSUE.detail, errors: [ISSUE] },
        ]);
        const many = await send('POST', path, [{ id: 'good' }, { id }]);
        const { errors } = (await many.json()) as { errors: unknown };
        expect([many.status, errors], id).to.deep.equal([422, [{ ...ISSUE, pointer: '/1/id' }]]);
      }
      expect((await (await send('GET', path)).json()) as object).to.include({ total: 0 });
    });

    it(`cannot lead to some, which are refused: PUT ${path}`, async () => {
      // No client sends the first ones as they are.
      for (const id of ['.', '..', '%2e', '%2e%2E', 'a'.repeat(LONGEST + 1)]) {
        const head = requestHead(`PUT ${path}/${id}`, {
          'Content-Type': 'application/json',
          'Content-Length': '2',
          Connection: 'close',
        });
        const { status, body } = await exchange(site.server, `${head}{}`);
        expect([status, JSON.parse(body).errors], id).to.deep.equal([422, [ISSUE]]);
      }
    });
  }
});
