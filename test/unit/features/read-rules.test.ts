/** What is made once for all requests that may read the same attributes. */
import { expect } from 'chai';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import { compileRequestAccess } from '../../../src/access/evaluate-rules.js';
import type { Endpoint } from '../../../src/declare/crud-options.js';
import { FEATURES } from '../../../src/features/features.js';
import type { Access } from '../../../src/operation/access.js';
import { compileFeatures } from '../../../src/operation/compile-features.js';
import { createCursorCodec } from '../../../src/request/query/cursor-codec.js';
import { compileSerializer, readableProperties, recordPlan } from '../../../src/respond/record-serializer.js';
import { nestedRecords } from '../../../src/respond/result-serializer.js';
import { compileRowView } from '../../../src/respond/row-view.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

type Asking = Request & { readonly roles: readonly string[] };

const asked: string[] = [];
const is = (role: string) => (request: Request) => {
  asked.push(role);
  return (request as Asking).roles.includes(role);
};
const attributes = { name: DataTypes.TEXT, salary: DataTypes.INTEGER, note: DataTypes.TEXT };
const plan = planOf(defineModel('Person', attributes), {
  sortAllow: ['name'],
  fields: { salary: { read: is('hr') }, note: { read: is('boss') } },
});

function request(...roles: string[]): Request {
  return { roles } as unknown as Request;
}

describe('what a request may read', () => {
  const serializer = compileSerializer(recordPlan(plan), nestedRecords(new Map()));
  const rowView = compileRowView(plan, serializer.serialize);
  const context = {
    plan,
    readable: readableProperties(plan),
    columnsOf: rowView.columnsOf,
    cursors: createCursorCodec([]),
    views: () => ({ readable: [], columnsOf: () => [] }),
  };
  const features = compileFeatures(context, FEATURES);
  const access = compileRequestAccess(plan);
  const granted = (...roles: string[]) => access(request(...roles), 'list') as Access;
  const parsers = [...plan.info.attributes].map(() => (text: string) => text);

  it('is the same object for all requests that may read the same', () => {
    for (const roles of [[], ['hr'], ['boss'], ['hr', 'boss']]) {
      const [first, , second] = [granted(...roles), granted('hr'), granted(...roles)];
      expect(first.form).to.equal(second.form);
      for (const endpoint of ['list', 'read', 'create', 'update'] as const satisfies readonly Endpoint[]) {
        const { absentFor, readQuery, operation } = features[endpoint];
        const inputs = readQuery('/people', first);
        expect(inputs).to.equal(absentFor(second.form)).and.to.be.frozen;
        const [one, other] = [operation(inputs, first), operation(inputs, second)];
        if (endpoint === 'list' || endpoint === 'read') expect(one).to.equal(other).and.to.be.frozen;
        const [text, same] = [first, second].map(
          ({ form }) => rowView.writer(parsers, absentFor(form).fields ?? null).text,
        );
        expect(text).to.equal(same);
      }
    }
  });

  it('is what is selected, given back and written', () => {
    const { form } = granted('hr');
    const names = features.list.absentFor(form).fields ?? null;
    expect(names).to.deep.equal(['id', 'name', 'salary']).and.to.be.frozen;
    const made = (endpoint: Endpoint) =>
      features[endpoint].operation(features[endpoint].absentFor(form), granted('hr'));
    expect(made('list')).to.deep.include({ select: { columns: names } });
    expect(made('read')).to.deep.include({ select: { columns: names } });
    expect(made('create')).to.deep.include({ returning: { columns: names } });
    expect(made('update')).to.deep.include({ returning: { columns: names } });
    const row = ['1', 'Ada', '30', 'secret'];
    expect(rowView.writer(parsers, names).text(row)).to.equal('{"id":"1","name":"Ada","salary":"30"}');
    expect(features.list.absentFor(granted('hr', 'boss').form).fields).to.equal(null);
  });

  it('is made once for a choice of the client, too', () => {
    const chosen = () => features.list.readQuery('/people?fields=name', granted('hr')).fields ?? null;
    expect(chosen()).to.equal(chosen()).and.to.deep.equal(['name']);
    expect(rowView.writer(parsers, chosen()).text).to.equal(rowView.writer(parsers, chosen()).text);
  });

  it('is asked once for each request', () => {
    const one = request('hr');
    asked.length = 0;
    expect(access.unreadable(one)).to.deep.equal(['note']);
    expect((access(one) as Access).form.unreadable).to.deep.equal(new Set(['note']));
    expect(access(one, 'read')).to.equal(access(one));
    expect(asked).to.deep.equal(['hr', 'boss']);
  });

  it('does not leave one rule behind where another throws', async () => {
    const failing = compileRequestAccess(
      planOf(defineModel('Task', attributes), {
        fields: {
          name: { read: () => Promise.reject(new Error('later')) },
          note: {
            read: () => {
              throw new Error('now');
            },
          },
        },
      }),
    );
    // A rejection that is not handled would end this process.
    expect(await caughtError(() => failing(request(), 'read'))).to.be.instanceOf(Error);
  });

  it('is asked whether it may be done, also where it was asked for its rows before', async () => {
    const closed = compileRequestAccess(planOf(defineModel('Task', attributes), { can: { read: false } }));
    const one = request();
    await closed(one);
    expect(await caughtError(() => closed(one, 'read'))).to.include({ status: 403 });
  });
});
