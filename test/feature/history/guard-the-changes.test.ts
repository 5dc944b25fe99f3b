/** A role that may write a table, and the changes of that table, which it may only read. */
// @runs fast
import { expect } from 'chai';
import { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ history: true })
@Table({ tableName: 'safes', timestamps: false })
class Safe extends NumberedRow {
  @Column({ type: DataType.DATE, field: 'openedAt' }) declare openedAt: Date | null;
  @Column(DataType.DOUBLE) declare weight: number | null;
}

describe('a stolen login of the application', () => {
  it('writes the table, and cannot change or forge what is stored of it', async () => {
    const database = await freshDatabase('safe');
    await using site = await startTestApp({ models: [Safe], database });
    const role = `thief_${Math.random().toString(36).slice(2, 10)}`;
    const url = Object.assign(new URL(database.url), { username: role, password: 'p' }).href;
    await execute(
      database.url,
      `CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT CREATE, USAGE ON SCHEMA public TO ${role};
       GRANT SELECT, INSERT, UPDATE, DELETE ON safes TO ${role}; GRANT USAGE ON SEQUENCE safes_id_seq TO ${role};
       GRANT SELECT ON crud_changes TO ${role}`,
    );
    const client = new Client(url);
    await client.connect();
    try {
      await client.query('CREATE TEMP TABLE crud_changes (LIKE public.crud_changes)');
      await client.query(
        `CREATE FUNCTION public.to_jsonb(safes) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"id":7}'::jsonb $$`,
      );
      await client.query(
        `SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -15`,
      );
      await client.query(
        `INSERT INTO safes ("openedAt", weight) VALUES ('2026-01-31T00:00:00Z', 0.1::float8 + 0.2::float8)`,
      );
      const { rows } = await client.query('SELECT row_id, new, context, db_user FROM public.crud_changes');
      expect(rows).to.deep.equal([
        {
          row_id: '1',
          new: { id: 1, openedAt: '2026-01-31T00:00:00+00:00', weight: 0.1 + 0.2 },
          context: null,
          db_user: role,
        },
      ]);
      for (const text of [
        'UPDATE public.crud_changes SET old = NULL',
        'DELETE FROM public.crud_changes',
        'TRUNCATE public.crud_changes',
        `INSERT INTO public.crud_changes (source, row_id, op) VALUES ('safes', '1', 'd')`,
        'ALTER TABLE safes DISABLE TRIGGER ALL',
        'DROP FUNCTION crud_capture_2 CASCADE',
        `CREATE TABLE own (id int); CREATE TRIGGER t AFTER INSERT ON own REFERENCING NEW TABLE AS "crud:new"
         FOR EACH STATEMENT EXECUTE FUNCTION crud_capture_2('safes', '{id}', '{}', '')`,
      ])
        expect(await caughtError(() => client.query(text)), text).to.have.property('code', '42501');
    } finally {
      await client.end();
      await execute(database.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
    void site;
  });
});
