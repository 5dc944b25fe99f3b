/** Histories of attributes that no answer shows: their values are in no change, and no revert writes them. */
// @runs fast
import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS: CrudOptions = {
  can: { history: true },
  history: true,
  endpoints: ['read', 'create', 'update', 'history', 'revert'],
};

class PublicLogin {
  @Expose() declare id: number;
  @Expose() declare name: string;
}

@Crud({ ...OPTIONS, readSchema: PublicLogin } as CrudOptions)
@Table({ tableName: 'logins', timestamps: false })
class Login extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare password: string;
}

@Crud({ ...OPTIONS, readSchema: PublicLogin } as CrudOptions)
@Table({ tableName: 'seats', timestamps: false })
class Seat extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare note: string;
}

/** The same table, whose notes it shows. */
@Crud(OPTIONS)
@Table({ tableName: 'seats', timestamps: false })
class Place extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare note: string;
}

@Crud(OPTIONS)
@Table({ tableName: 'vaults', timestamps: false })
class Vault extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.INTEGER) declare pin: number;

  override toJSON(): object {
    const { pin: _, ...others } = this.get() as { readonly pin: number };
    return others;
  }
}

@Crud({
  ...OPTIONS,
  search: { vector: 'tsv', of: ['title', 'body'], config: 'simple' },
  fields: { body: { read: (request) => request.get('Role') === 'staff' } },
})
@Table({ tableName: 'papers', timestamps: false })
class Paper extends NumberedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(DataType.TEXT) declare body: string;
  @Column(DataType.TSVECTOR) declare tsv: string;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('a history without what no answer shows', () => {
  const site = serveTestApp(() => ({
    models: [Login, Seat, Place, Vault, Paper],
    bootstrap: { indexAdvice: false },
  }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const firstOf = async (path: string): Promise<string> =>
    (await site.agent.get(`${path}/history`)).body.items.at(-1).id;
  const images = async () => (await sql('SELECT old, new FROM crud_changes'))[0];

  beforeEach(() => emptyTables(site, 'logins', 'seats', 'vaults', 'papers', 'crud_changes'));

  it('stores no value of an attribute that the readSchema lacks, and tells that it has changed', async () => {
    await site.agent.post('/logins').send({ name: 'a', password: 'leaked' });
    await site.agent.patch('/logins/1').send({ password: 'fresh' });
    expect(JSON.stringify(await images())).not.to.match(/leaked|fresh/);
    const { body } = await site.agent.get('/logins/1/history');
    expect(body.items[0]).to.deep.include({ changed: ['password'], changes: {} });
  });

  it('leaves such an attribute as it is in a revert', async () => {
    await site.agent.post('/logins').send({ name: 'a', password: 'leaked' });
    await site.agent.patch('/logins/1').send({ name: 'b', password: 'fresh' });
    // A trigger of an earlier release has stored it.
    await sql(`UPDATE crud_changes SET new = new || '{"password": "leaked"}' WHERE old IS NULL`);
    const to = await firstOf('/logins/1');
    const { body } = await site.agent.post('/logins/1/revert').send({ to });
    expect(body).to.deep.equal({ id: 1, name: 'a', skipped: [] });
    expect((await sql('SELECT name, password FROM logins'))[0]).to.deep.equal([
      { name: 'a', password: 'fresh' },
    ]);
  });

  it('stores what another resource of the table shows, and reverts it there alone', async () => {
    await site.agent.post('/places').send({ name: 'a', note: 'one' });
    await site.agent.patch('/seats/1').send({ name: 'b', note: 'two' });
    const { body } = await site.agent.get('/places/1/history');
    expect(body.items[0].changes.note).to.deep.equal({ from: 'one', to: 'two' });
    expect((await site.agent.get('/seats/1/history')).text).not.to.match(/one|two/);
    const to = await firstOf('/seats/1');
    expect((await site.agent.post('/seats/1/revert').send({ to })).body).to.include({ name: 'a' });
    expect((await site.agent.get('/places/1')).body).to.include({ name: 'a', note: 'two' });
    expect((await site.agent.post('/places/1/revert').send({ to })).body).to.include({ note: 'one' });
  });

  it('does not show by the vector of a search that an attribute has changed which the request may not read', async () => {
    const change = (title: string, body: string) =>
      sql(
        `UPDATE papers SET title = '${title}', body = '${body}', tsv = to_tsvector('simple', '${title} ${body}')`,
      );
    await sql(`INSERT INTO papers (title) VALUES ('a')`);
    await change('a', 'hidden');
    await change('b', 'hidden');
    const shown = async (role: string) => {
      const { body } = await site.agent.get('/papers/1/history').set('Role', role);
      return body.items.map(({ changed }: { changed: string[] }) => changed);
    };
    expect(await shown('')).to.deep.equal([['title'], ['id', 'title']]);
    expect(await shown('staff')).to.deep.equal([['title'], ['body'], ['id', 'title', 'body']]);
  });

  it('leaves out an old value that no longer fits its column, where toJSON makes answers', async () => {
    await sql('ALTER TABLE vaults ALTER pin TYPE text');
    await sql(`INSERT INTO vaults (name, pin) VALUES ('n', 'hunter2')`);
    await sql(`UPDATE vaults SET pin = '42', name = 'm'`);
    await sql('ALTER TABLE vaults ALTER pin TYPE integer USING pin::integer');
    const { status, text, body } = await site.agent.get('/vaults/1/history');
    expect(status).to.equal(200);
    expect(text).not.to.include('hunter2');
    expect(body.items[0].changes.name).to.deep.equal({ from: 'n', to: 'm' });
  });
});
