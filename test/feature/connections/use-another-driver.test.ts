/** Another driver object than the pg that is installed: Sequelize sends all queries, with equal answers. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { HARD_COLUMNS, HARD_VALUES, Specimen } from '../../support/specimen.js';
import { SpecimenTable } from '../../support/specimen-table.js';
import { TwoPaths } from '../../support/two-paths.js';

describe('using another driver', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Specimen],
      engine: { dialectModule: { ...pg } },
      bootstrap: { logger: new CapturedLog(), idempotency: { principal: () => 'all' } },
    }),
  );

  before(async () => {
    const row = (id: number) => ({
      id,
      values: Object.fromEntries(
        HARD_COLUMNS.map((name) => [
          name,
          (HARD_VALUES[name] as readonly string[])[id % HARD_VALUES[name].length] ?? null,
        ]),
      ),
    });
    await new SpecimenTable(paths.site.engine.sequelize).fill(Array.from({ length: 12 }, (_, id) => row(id)));
  });

  it('gives the same answers to reads', async () => {
    for (let id = 0; id < 13; id += 1) await paths.same({ path: `/specimens/${id}` });
    for (const order of ['id', '-moment', 'exact'])
      await paths.same({ path: `/specimens?size=5&sort=${order}` });
    expect(JSON.parse((await paths.same({ path: '/specimens' })).body).items).to.have.length(12);
  });

  it('gives the same answers to writes', async () => {
    await paths.same({
      method: 'PATCH',
      path: '/specimens/1',
      body: { text: 'new', moment: '2026-01-31T08:00:00Z' },
    });
    await paths.same({ method: 'PATCH', path: '/specimens/99', body: { text: 'new' } });
    await paths.same({ method: 'DELETE', path: '/specimens/99' });
    expect((await paths.same({ path: '/specimens/1' })).body).to.include('"text":"new"');
  });

  it('is a reason for the general path', () => {
    const { routes } = paths.site.crud;
    const reasons = routes.find(({ path, method }) => path === '/specimens/:id' && method === 'GET');
    expect(reasons?.generalPathReasons).to.include('the driver is another one than the installed pg');
  });

  it('repeats the answer to a request with an Idempotency-Key', async () => {
    const send = () =>
      paths.site.agent.patch('/specimens/2').set('Idempotency-Key', `"${key}"`).send({ text: 'once' });
    const key = randomUUID();
    const first = await send();
    const second = await send();
    expect([first.status, first.body.text]).to.deep.equal([200, 'once']);
    expect([second.status, second.text, second.get('Idempotent-Replayed')]).to.deep.equal([
      200,
      first.text,
      'true',
    ]);
  });

  it('keeps no statements', async () => {
    const [rows] = await paths.site.engine.sequelize.query(
      "SELECT name FROM pg_prepared_statements WHERE name <> ''",
    );
    expect(rows).to.deep.equal([]);
  });
});
