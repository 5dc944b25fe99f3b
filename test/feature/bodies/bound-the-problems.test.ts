/** Requests with thousands of mistakes: the answers say enough to act on, and that there is more. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const MAX_ISSUES = 100;
/** Size of a whole answer with problems. */
const MAX_BYTES = 33_000;

@Crud({ endpoints: ['list', 'read', 'create', 'createMany', 'update', 'delete'] })
@Table({ tableName: 'wide_rows', timestamps: false })
class WideRow extends Model {}

for (let index = 0; index < 300; index += 1) {
  Column({ type: DataType.TEXT })(WideRow.prototype, `measurement_${index}`);
}

@Crud({ endpoints: ['list', 'read', 'create', 'createMany', 'update', 'delete'] })
@Table({ tableName: 'narrow_rows', timestamps: false })
class NarrowRow extends Model {
  @Column(DataType.TEXT) declare text: string;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `x${index}`);
const object = (count: number) => Object.fromEntries(names(count).map((name) => [name, 1]));

function expectShortened({ status, body, text }: Response, expected: number): void {
  expect(status).to.equal(expected);
  expect(body.detail).to.equal(
    `There are more problems than are told; errors has the first ${body.errors.length}.`,
  );
  expect(body.errors).to.have.length.within(1, MAX_ISSUES);
  expect(Buffer.byteLength(text)).to.be.below(MAX_BYTES);
}

except(OF_MANY).describe('an answer to a request with very many mistakes', () => {
  const site = serveTestApp(() => ({ models: [WideRow, NarrowRow] }));

  it('names a field that is not there once', async () => {
    const { status, body } = await site.agent.get(`/wide-rows?fields=${','.repeat(8_000)}`);
    expect({ status, codes: body.errors.map(({ code }: { code: string }) => code) }).to.deep.equal({
      status: 400,
      codes: ['fields.unknown'],
    });
  });

  for (const [what, path] of [
    ['fields', `/wide-rows?fields=${names(1_000)}`],
    ['parameters', `/narrow-rows?${names(1_000).join('&')}`],
    ['repeated parameters', `/narrow-rows?${'page=1&'.repeat(1_000)}`],
  ] as const) {
    it(`is short where ${what} are wrong`, async () => expectShortened(await site.agent.get(path), 400));
  }

  for (const path of ['/wide-rows', '/narrow-rows']) {
    it(`is short where properties of a body are wrong: ${path}`, async () =>
      expectShortened(await site.agent.post(path).send(object(5_000)), 422));

    it(`is short where many records are wrong: ${path}`, async () => {
      const items = Array.from({ length: 100 }, () => object(90));
      expectShortened(await site.agent.post(path).send(items), 422);
    });
  }

  it('tells all problems where they are as many as it may have', async () => {
    const { body } = await site.agent.post('/narrow-rows').send(object(MAX_ISSUES));
    expect(body.detail).to.equal('The body has 100 problems.');
    expect(body.errors).to.have.lengthOf(MAX_ISSUES);
  });

  it('has as many for all records together that stand for themselves, and one of each at least', async () => {
    const items = Array.from({ length: 100 }, () => object(90));
    const { status, body } = await site.agent.post('/narrow-rows?atomic=false').send(items);
    const counts = body.items.map(({ problem }: { problem: { errors: unknown[] } }) => problem.errors.length);
    expect({ status, counts }).to.deep.equal({
      status: 207,
      counts: [90, 10, ...Array.from({ length: 98 }, () => 1)],
    });
    expect(body.items[1].problem.detail).to.equal(
      'There are more problems than are told; errors has the first 10.',
    );
    expect(await NarrowRow.count()).to.equal(0);
  });
});
