/** Rules of `fields`, `set` and `scope` where an override reads its body without a class. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Body, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  type CrudOptions,
  crudController,
  type Id,
  InjectContext,
  InjectId,
  type ModelClass,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { TwoPaths } from '../../support/two-paths.js';

const isStaff = (request: Request) => request.get('role') === 'staff';

const WRITES = ['list', 'create', 'update'] as const;

const RULES: Readonly<Record<string, CrudOptions>> = {
  fields: { fields: { profile: { write: isStaff }, level: { write: isStaff } } },
  scope: { fields: { profile: { write: isStaff }, level: { write: isStaff } }, scope: { tenant: () => 1 } },
  set: { fields: { profile: { write: isStaff }, level: { write: isStaff } }, set: { tenant: () => 1 } },
  none: {},
};

/** JSON has the key as its own. */
const body = (text: string) => JSON.parse(text) as object;

for (const [rules, options] of Object.entries(RULES)) {
  @Crud({ prefix: '/memos', endpoints: WRITES, ...options })
  @Table({ tableName: 'memos', timestamps: false })
  class Memo extends NumberedRow {
    @Column(DataType.TEXT) declare name: string | null;
    @Column(DataType.JSONB) declare profile: unknown;
    @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'user' }) declare level: string;
    @Column(DataType.INTEGER) declare tenant: number | null;
  }

  class Memos extends crudController(Memo) {
    override create(@Body() values: CreateValues<Memo>, @InjectContext() context: CrudContext<Memo>) {
      return super.create(values, context);
    }
    override update(
      @InjectId() id: Id,
      @Body() values: UpdateValues<Memo>,
      @InjectContext() context: CrudContext<Memo>,
    ) {
      return super.update(id, Object.assign({}, values), context);
    }
    @Post('/echo') echo(@Body() values: object): object {
      return { names: Object.keys(values) };
    }
  }

  describe(`an override that reads its body without a class, with ${rules}`, () => {
    const start = () =>
      TwoPaths.start({ models: [Memo] as ModelClass[], bootstrap: { controllers: [Memos] } });
    const undo = async () => {
      await Memo.destroy({ truncate: true, restartIdentity: true });
      await Memo.create({ name: 'a', tenant: 1, profile: { role: 'user' } });
    };

    it('takes no key by which a copy would have another prototype', async () => {
      await using paths = await start();
      for (const sent of [
        '{"name":"n","__proto__":{"level":"admin"}}',
        '{"constructor":{"level":"admin"}}',
        '{"name":"n","profile":{"__proto__":{"role":"admin"}}}',
      ]) {
        for (const [method, path] of [
          ['POST', '/memos'],
          ['PATCH', '/memos/1'],
        ] as const) {
          await undo();
          const answer = await paths.same(
            { method, path, body: body(sent), headers: { role: 'staff' } },
            undo,
          );
          expect(answer.status, `${method} ${sent}`).to.equal(400);
          expect(JSON.parse(answer.body).errors[0].code).to.equal('unsafeKey');
          expect(await Memo.count({ where: { level: 'user' } })).to.equal(1);
        }
      }
      const echo = await paths.same({ method: 'POST', path: '/memos/echo', body: body('{"constructor":1}') });
      expect(JSON.parse(echo.body)).to.deep.equal({ names: ['constructor'] });
    });

    if (rules === 'none') return;

    it('sets no part of an attribute that the request may not set', async () => {
      await using paths = await start();
      for (const [method, path] of [
        ['POST', '/memos'],
        ['PATCH', '/memos/1'],
      ] as const) {
        await undo();
        const sent = { name: 'n', 'profile.role': 'admin', 'level.x': 1 };
        const answer = await paths.same({ method, path, body: sent }, undo);
        expect(answer.status, method + answer.body).to.equal(422);
        expect(JSON.parse(answer.body).errors, method).to.deep.equal([
          { pointer: '/profile', code: 'readOnly', detail: 'profile cannot be set.' },
          { pointer: '/level', code: 'readOnly', detail: 'level cannot be set.' },
        ]);
        const [found] = await Memo.findAll();
        expect(found?.profile).to.deep.equal({ role: 'user' });
      }
    });
  });
}
