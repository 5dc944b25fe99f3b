/** Ids in paths: exactly one row each, read strictly by the type of the primary key. */
import { expect } from 'chai';
import { BadRequestError } from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response, Test } from 'supertest';
import { Crud, crudController, type IdType, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { exchange, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'seats', timestamps: false })
class Seat extends KeyedRow {}

@Crud()
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends Model {
  @PrimaryKey @Column(DataType.SMALLINT) declare number: number;
}

@Crud()
@Table({ tableName: 'stars', timestamps: false })
class Star extends Model {
  @PrimaryKey @Column(DataType.BIGINT) declare id: string;
}

@Crud()
@Table({ tableName: 'files', timestamps: false })
class File extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
}

@Crud()
@Table({ tableName: 'words', timestamps: false })
class Word extends Model {
  @PrimaryKey @Column(DataType.STRING(12)) declare word: string;
}

@Crud()
@Table({ tableName: 'levels', timestamps: false })
class Level extends Model {
  @PrimaryKey @Column(DataType.ENUM('low', 'high')) declare level: string;
}

const UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';

/** The id is not read, and why. */
const notAnId = (raw: string, expected: string) => ({
  parameter: 'id',
  code: 'id',
  detail: `'${raw}' is not a valid id; it must be ${expected}.`,
});

describe('addressing a record', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Seat, Shelf, Star, File, Word, Level],
    engine: { logging: sql.record },
  }));

  /** The answer to a request that executes no statement. */
  const unasked = async (send: () => Test): Promise<Response> => {
    const { result, statements } = await sql.duringRequest(send);
    expect(statements).to.deep.equal([]);
    return result;
  };

  const refuses = (path: string, ids: readonly string[], expected: string): void => {
    for (const id of ids) {
      it(`[B1 B2 B4] refuses ${path}/${id}, asking nothing of the database`, async () => {
        const answer = await unasked(() => site.agent.get(`${path}/${id}`));
        expectIssue(answer, 400, notAnId(decodeURIComponent(id), expected));
      });
    }
  };

  const misses = (path: string, ids: readonly string[], detail: string): void => {
    for (const id of ids) {
      it(`answers 404 to ${path}/${id.slice(0, 40)}, asking nothing of the database`, async () =>
        expectProblem(await unasked(() => site.agent.get(`${path}/${id}`)), 404, { detail }));
    }
  };

  const WRONG_INTEGERS = (
    'abc 1.0 1e3 0x10 %201 1%20 +1 -0 007 1; 1%0A 1_000 --1 1n %20 %D9%A3 NaN Infinity null undefined %00 1%00 1,2 ' +
    "1'-- {} %7B%7D"
  ).split(' ');

  describe('by an integer', () => {
    before(() => Seat.bulkCreate([{ id: -5 }, { id: 0 }, { id: 2147483647 }]));

    for (const id of [-5, 0, 2147483647]) {
      it(`finds ${id}`, async () => expectJson(await site.agent.get(`/seats/${id}`), 200, { id }));
    }

    refuses('/seats', WRONG_INTEGERS, 'an integer');
    misses('/seats', ['2147483648', '-2147483649', '9'.repeat(400)], 'There is no Seat with this id.');
    misses('/shelves', ['32768', '-32769'], 'There is no Shelf with this number.');

    it('[B1] refuses a malformed id in every route that has one, before the body is looked at', async () => {
      const issue = notAnId('x', 'an integer');
      expectIssue(await site.agent.get('/seats/x'), 400, issue);
      expectIssue(await site.agent.patch('/seats/x').send({ id: 1 }), 400, issue);
      expectIssue(await site.agent.patch('/seats/x').type('json').send('{'), 400, issue);
      expectIssue(await site.agent.delete('/seats/x'), 400, issue);
    });

    it('[B2] answers 404 to an impossible id in every route that has one', async () => {
      const missing = { detail: 'There is no Seat with this id.' };
      expectProblem(await site.agent.get('/seats/2147483648'), 404, missing);
      expectProblem(await site.agent.patch('/seats/2147483648').send({}), 404, missing);
      expectProblem(await site.agent.delete('/seats/2147483648'), 404, missing);
    });

    it('repeats only the beginning of a long id', async () => {
      const issue = notAnId(`${'x'.repeat(40)}…`, 'an integer');
      expectIssue(await site.agent.get(`/seats/${'x'.repeat(5000)}`), 400, issue);
    });
  });

  describe('by a bigint', () => {
    const STARS = ['9007199254740992', '9007199254740993', '-9223372036854775808'];
    before(() => Star.bulkCreate(STARS.map((id) => ({ id }))));

    for (const id of STARS) {
      it(`[B3] finds exactly ${id}`, async () =>
        expectJson(await site.agent.get(`/stars/${id}`), 200, { id }));
    }

    it('[B3] deletes exactly the one that is named', async () => {
      await Star.create({ id: '9007199254740995' });
      await Star.create({ id: '9007199254740996' });
      expectNothing(await site.agent.delete('/stars/9007199254740995'), 204);
      expectJson(await site.agent.get('/stars/9007199254740996'), 200, { id: '9007199254740996' });
      expect(await Star.findByPk('9007199254740995')).to.equal(null);
    });

    refuses('/stars', WRONG_INTEGERS, 'an integer');
    const beyond = ['9223372036854775808', '-9223372036854775809', '9'.repeat(400)];
    misses('/stars', beyond, 'There is no Star with this id.');
  });

  describe('by a UUID', () => {
    before(() => File.create({ id: UUID }));

    it('[B4] finds it in either case', async () => {
      expectJson(await site.agent.get(`/files/${UUID}`), 200, { id: UUID });
      expectJson(await site.agent.get(`/files/${UUID.toUpperCase()}`), 200, { id: UUID });
    });

    it('answers 404 to another one', async () => {
      const answer = await site.agent.get('/files/00000000-0000-0000-0000-000000000000');
      expectProblem(answer, 404, { detail: 'There is no File with this id.' });
    });

    const odd = [UUID.slice(1), UUID.replace('a', 'g'), UUID.replaceAll('-', '')];
    refuses('/files', ['1', ...odd, `${UUID}0`, `%7B${UUID}%7D`, `${UUID}%20`, `${UUID}%0A`], 'a UUID');
  });

  describe('by a text', () => {
    before(() => Word.bulkCreate([{ word: 'plain' }, { word: '世界🙂 a/b' }]));

    it('finds it as it is written, and tells upper case from lower case', async () => {
      for (const word of ['plain', '世界🙂 a/b'])
        expectJson(await site.agent.get(`/words/${encodeURIComponent(word)}`), 200, { word });
      const other = await site.agent.get('/words/Plain');
      expectProblem(other, 404, { detail: 'There is no Word with this word.' });
    });

    it('counts characters, not bytes or code units', async () => {
      const path = `/words/${encodeURIComponent('🙂'.repeat(12))}`;
      const { result, statements } = await sql.duringRequest(() => site.agent.get(path));
      expectProblem(result, 404, { detail: 'There is no Word with this word.' });
      expect(statements).to.have.lengthOf(1);
    });

    misses('/words', ['x'.repeat(13)], 'There is no Word with this word.');

    it('[A8] refuses NUL, asking nothing of the database', async () => {
      const answer = await unasked(() => site.agent.get('/words/a%00b'));
      expectIssue(answer, 400, notAnId('a\0b', 'text without NUL characters'));
    });
  });

  describe('in an encoding that is none', () => {
    for (const id of ['%ff', '%C3%28', '%ED%A0%80', '%', '%4', '%zz']) {
      it(`answers 400 to ${id}, whatever the method, asking nothing of the database`, async () => {
        for (const method of ['get', 'delete', 'options'] as const) {
          const answer = await unasked(() => site.agent[method](`/words/${id}`));
          expectProblem(answer, 400, { detail: 'The path is not valid percent-encoded UTF-8.' });
        }
      });
    }
  });

  it('in a request line with a whole address', async () => {
    const head = requestHead(`GET ${site.server.url}/seats?size=1`, { Connection: 'close' });
    expect((await exchange(site.server, head)).status).to.equal(200);
  });

  describe('by a member of an enumeration', () => {
    before(() => Level.create({ level: 'low' }));

    it('finds it', async () => expectJson(await site.agent.get('/levels/low'), 200, { level: 'low' }));

    misses('/levels', ['LOW', 'middle', '%00'], 'There is no Level with this level.');
  });

  describe('with an idType of its own', () => {
    /** The model again, in an application of its own with this `idType`. */
    const withIdType = async (model: ModelClass, idType: IdType) => {
      const options = { prefix: '/things', idType };
      class Things extends crudController(model, options) {}
      return (await buildApp({ models: [], controllers: [Things] })).agent;
    };

    const base36 = (raw: string) => Number.parseInt(raw, 36) - 10;
    const toNumber = (raw: string) => Number(raw);
    const nullish = () => null;
    const failing = () => {
      throw new Error('internal reason');
    };
    const nameOf = (idType: IdType) => (typeof idType === 'string' ? idType : idType.name);
    const ACCEPTED = 'one that this resource accepts';
    const MISSING = { detail: 'There is no Seat with this id.' };

    for (const [idType, model, raw, record] of [
      ['integer', Seat, '0', { id: 0 }],
      [Number, Seat, '0', { id: 0 }],
      [base36, Seat, 'A', { id: 0 }],
      ['bigint', Star, '9007199254740993', { id: '9007199254740993' }],
      [BigInt, Star, '9007199254740993', { id: '9007199254740993' }],
      ['string', Word, 'plain', { word: 'plain' }],
      [String, Word, 'plain', { word: 'plain' }],
    ] as const) {
      it(`reads ${raw} by ${nameOf(idType)}`, async () =>
        expectJson(await (await withIdType(model, idType)).get(`/things/${raw}`), 200, record));
    }

    for (const [idType, model, raw, expected] of [
      ['integer', Seat, 'x', 'an integer'],
      [Number, Seat, 'x', 'an integer'],
      ['bigint', Star, '1.5', 'an integer'],
      [BigInt, Star, '1.5', 'an integer'],
      ['uuid', Word, 'plain', 'a UUID'],
      [toNumber, Seat, 'x', ACCEPTED],
      [toNumber, Seat, 'Infinity', ACCEPTED],
      [toNumber, Seat, '-Infinity', ACCEPTED],
      [function nothing() {}, Seat, '1', ACCEPTED],
      [nullish, Seat, '1', ACCEPTED],
      [failing, Seat, '1', ACCEPTED],
    ] as const) {
      it(`refuses ${raw} by ${nameOf(idType)}, asking nothing of the database`, async () => {
        const agent = await withIdType(model, idType);
        expectIssue(await unasked(() => agent.get(`/things/${raw}`)), 400, notAnId(raw, expected));
      });
    }

    for (const [idType, raw] of [
      [base36, 'Z'],
      [toNumber, '2147483648'],
      [toNumber, '1e30'],
      [toNumber, '1.5'],
    ] as const) {
      it(`answers 404 where ${nameOf(idType)} makes a value of ${raw} that no row has`, async () =>
        expectProblem(await (await withIdType(Seat, idType)).get(`/things/${raw}`), 404, MISSING));
    }

    it('leaves an HTTP error that the function throws as it is', async () => {
      const agent = await withIdType(Seat, () => {
        throw new BadRequestError('Use the short code on the label.');
      });
      expectProblem(await agent.get('/things/1'), 400, { detail: 'Use the short code on the label.' });
    });
  });
});
