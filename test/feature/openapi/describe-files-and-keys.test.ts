/** Answers of figures, files, upserts and removals of many are as in the document. */
// @runs fast
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import { served } from '../../models/served.js';
import { ApiContract } from '../../support/api-contract.js';
import { except, SERVES_EXPORTS } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const TOWN = served(
  'town',
  {
    code: { type: DataType.STRING(3), allowNull: false, unique: true },
    people: { type: DataType.INTEGER, allowNull: false, defaultValue: 0 },
  },
  {
    crud: {
      endpoints: ['list', 'read', 'create', 'createMany', 'update', 'delete', 'deleteMany', 'upsert'],
      upsert: [['code']],
      ...(SERVES_EXPORTS ? { export: ['csv', 'ndjson'] } : {}),
      import: { modes: ['create', 'upsert'] },
      aggregate: { group: ['code'], sum: ['people'] },
      filterAllow: ['code'],
      sortAllow: ['code'],
    },
  },
);
const CSV = 'text/csv';
const LINES = 'application/x-ndjson';

const REASON = 'it has a method list, with which no application has aggregates';

except({ session: REASON, records: REASON }).describe('the document of files, figures and keys', () => {
  const app = serveTestApp(() => ({
    minPool: 2,
    models: [TOWN],
    bootstrap: { idempotency: { principal: () => 'all' } },
  }));

  it('describes every answer', async () => {
    const contract = new ApiContract(app.crud.openapi());
    const send = async (id: string, status: number, target: string, body?: unknown, headers = {}) => {
      const { method } = contract.operations.get(id) as { method: 'get' | 'post' | 'delete' };
      const answer = await app.agent[method](`/town${target}`)
        .set(headers)
        .buffer(true)
        .send(body as object);
      expect(answer.status, `${target} ${answer.text}`).to.equal(status);
      contract.check(id, answer);
    };
    const write = (status: number, query: string, body: unknown) => send('createTown', status, query, body);
    await write(201, '?on_conflict=code', { code: 'PAR' });
    await write(200, '?on_conflict=code', { code: 'PAR', people: 7 });
    await write(200, '?on_conflict=code&on_conflict_do=nothing', { code: 'PAR' });
    await write(200, '?on_conflict=code', [{ code: 'PAR' }, { code: 'LYS' }]);
    await write(400, '?on_conflict=people', { code: 'PAR' });
    await write(400, '?on_conflict_do=nothing', { code: 'PAR' });
    await write(422, '?on_conflict=code', [{ code: 'PAR' }, { code: 'PAR' }]);
    await write(409, '', { code: 'PAR' });

    const read = (status: number, query: string) => send('aggregateTowns', status, `/aggregate${query}`);
    await read(200, '?group=code&sum=people');
    await read(400, '?group=people');

    if (SERVES_EXPORTS) {
      for (const format of ['csv', 'ndjson']) await send('listTowns', 200, `?format=${format}`);
      await send('listTowns', 200, '?count=exact', undefined, { Accept: LINES });
    }
    await send('listTowns', 400, '?format=xml');

    const load = (status: number, query: string, body: string, type = CSV, headers = {}) =>
      send('importTowns', status, `/import${query}`, body, { 'Content-Type': type, ...headers });
    const key = { 'Idempotency-Key': '"one"' };
    await load(200, '', 'code,people\nROM,1', CSV, key);
    await load(422, '', 'code,people\nOSL,1', CSV, key);
    await load(200, '?mode=upsert&on=code', '{"code":"ROM","people":3}', LINES);
    await load(200, '', '{"code":"BER"}\n{"code":"VIE"}', LINES, { Accept: LINES });
    await load(207, '?atomic=false', 'code,people\nROM,1\nBRN,1', CSV, { 'Idempotency-Key': '"two"' });
    await load(422, '', 'code,people\nROM,x');
    await load(400, '', 'codes\nROM');
    await load(400, '?mode=replace', 'code\nROM');
    await load(415, '', '[]', 'application/json');

    const prefers = (value: string) => ({ Prefer: `return=${value}` });
    await send('deleteManyTowns', 200, '?q=code==VIE', undefined, prefers('representation'));
    await send('deleteTown', 200, '/1', undefined, prefers('representation'));
  });

  it('promises no record of a removal of many, which never answers with one', () => {
    const { operations } = new ApiContract(app.crud.openapi());
    const names = (id: string) => operations.get(id)?.operation.parameters?.map(({ name }) => name);
    expect(names('deleteTown')).to.include('Prefer');
    expect(names('deleteManyTowns')).to.include('q').and.not.include('Prefer');
  });

  it('has examples of files that can be sent', async () => {
    const { operations } = new ApiContract(app.crud.openapi());
    const { content = {} } = operations.get('importTowns')?.operation.requestBody ?? {};
    expect(Object.keys(content)).to.deep.equal([CSV, LINES]);
    for (const [type, { example }] of Object.entries(content)) {
      const answer = await app.agent
        .post('/town/import?dry_run=true')
        .set('Content-Type', type)
        .send(String(example));
      expect([answer.status, answer.body.created], answer.text).to.deep.equal([200, 1]);
    }
  });

  it('keeps the example of a create that upserts join', () => {
    const { operations } = new ApiContract(app.crud.openapi());
    const content = operations.get('createTown')?.operation.requestBody?.content['application/json'];
    expect(content?.example).to.deep.equal({ code: 'ABC', people: 1 });
  });
});
