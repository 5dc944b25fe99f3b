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

  it('is a reason for the general path, which gives the same answers', async () => {
    const { routes } = paths.site.crud;
    const reasons = routes.find(({ path, method }) => path === '/specimens/:id' && method === 'GET');
    expect(reasons?.generalPathReasons).to.include('the driver is another one than the installed pg');
    for (const path of ['/specimens', '/specimens/1', '/specimens/99', '/specimens?size=5&sort=-moment'])
      await paths.same({ path });
    await paths.same({ method: 'PATCH', path: '/specimens/1', body: { text: 'new' } });
    expect((await paths.same({ path: '/specimens/1' })).body).to.include('"text":"new"');
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
