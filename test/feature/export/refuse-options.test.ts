// @runs once
/** Applications that do not start, because an export would not fit its options. */
import { expect } from 'chai';
import { Interceptor, type InterceptorInterface } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController, crudRouter, Repository } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { attach, defineModel } from '../../support/offline-models.js';

@Crud({ export: ['csv'] })
@Table({ tableName: 'stamps', timestamps: false })
class Stamp extends NamedRow {}

class OwnList extends crudController(Stamp) {
  override list(...given: Parameters<InstanceType<ReturnType<typeof crudController<Stamp>>>['list']>) {
    return super.list(...given);
  }
}

class OwnPages extends Repository<Stamp> {
  static override model = Stamp;
  override page(...given: Parameters<Repository<Stamp>['page']>) {
    return super.page(...given);
  }
}
class OwnPagesController extends crudController(OwnPages) {}

@Interceptor()
class Wrap implements InterceptorInterface {
  intercept(_action: unknown, content: unknown) {
    return { data: content };
  }
}

const passed = (owner: string, reason: string) =>
  `${owner}: ${reason}, which no export goes through. Leave export out, or do without it: scope, visible, dependencies and read schemas ` +
  'hold for both.';

describe('an application with exports', () => {
  const problems = (option: unknown, others: object = {}) =>
    configProblems(() => crudRouter(defineModel('Coin'), { export: option, ...others } as object));

  for (const [title, option, problem] of [
    [
      'true',
      true,
      "Coin: export is true; use an array such as ['csv', 'ndjson'], or an object with formats.",
    ],
    [
      'no format',
      [],
      "Coin: export.formats is []; use an array with 'csv' and 'ndjson', or with one of them.",
    ],
    [
      'no formats',
      {},
      "Coin: export.formats is undefined; use an array with 'csv' and 'ndjson', or with one of them.",
    ],
    ['an unknown format', ['xlsx'], `Coin: export has the format "xlsx"; use 'csv' and 'ndjson'.`],
    ['a format twice', ['csv', 'csv'], "Coin: export names 'csv' twice; name it once."],
    [
      'an unknown member',
      { formats: ['csv'], maxrows: 5 },
      "Coin: export has no option 'maxrows'. Did you mean 'maxRows'? The options are formats, maxRows, snapshot.",
    ],
    [
      'no rows',
      { formats: ['csv'], maxRows: 0 },
      'Coin: export.maxRows is 0; use an integer from 1, or leave it out.',
    ],
    [
      'a snapshot of no time',
      { formats: ['csv'], snapshot: true },
      'Coin: export.snapshot is true; use { seconds: 60 }, with an integer from 1 to 3600.',
    ],
    [
      'a snapshot of a day',
      { formats: ['csv'], snapshot: { seconds: 86_400 } },
      'Coin: export.snapshot is { seconds: 86400 }; use { seconds: 60 }, with an integer from 1 to 3600.',
    ],
  ] as const)
    it(`does not start with ${title}`, async () => expect(await problems(option)).to.deep.equal([problem]));

  it('does not start without a list', async () =>
    expect(await problems(['csv'], { endpoints: ['read'] })).to.deep.equal([
      "Coin: export is another form of the list, and endpoints has no 'list'; add it, or leave export out.",
    ]));

  it('does not start where code of yours may hide what an export would show', async () => {
    attach(Stamp);
    const problemsOf = (controller: new () => object, routing = {}) =>
      configProblems(() => buildApp({ models: [], controllers: [controller], routing }));
    expect(await problemsOf(OwnList)).to.deep.equal([passed('OwnList', 'OwnList has a method list')]);
    expect(await problemsOf(OwnPagesController)).to.deep.equal([
      passed('OwnPagesController', 'OwnPages has a method page'),
    ]);
    class Plain extends crudController(Stamp) {}
    expect(await problemsOf(Plain, { interceptors: [Wrap] })).to.deep.equal([
      passed('Plain', 'the application has interceptors'),
    ]);
  });
});
