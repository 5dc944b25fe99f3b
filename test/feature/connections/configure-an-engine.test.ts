/** The parts of an engine: each is checked before anything starts, and no message has a password. */
// @runs once
import { expect } from 'chai';
import { Sequelize } from 'sequelize-typescript';
import { configureEngine, currentEngine, type EngineParts, engineLifespan } from '../../../src/index.js';
import { configProblems } from '../../support/config-error.js';

const CACHE = 'use new Redis(…) of ioredis, or a URL that begins with redis:// or rediss://.';
const CLICKHOUSE =
  'use createClient(…) of @clickhouse/client, or a URL that begins with http:// or https://.';

describe('parts of an engine', () => {
  const URL = 'postgres://127.0.0.1:1/nowhere';
  const sequelize = new Sequelize(URL, { dialect: 'postgres', logging: false });

  after(() => sequelize.close());

  for (const [parts, ...problems] of [
    [
      { cache: { host: 'localhost', password: 's3cret' } },
      `The engine option cache is of type object, and no client; ${CACHE}`,
    ],
    [
      { cache: 6379, clickhouse: { url: 'http://ann:s3cret@localhost' } },
      `The engine option clickhouse is of type object, and no client; ${CLICKHOUSE}`,
      `The engine option cache is of type number, and no client; ${CACHE}`,
    ],
    [{ clickhouse: null }, `The engine option clickhouse is null, and no client; ${CLICKHOUSE}`],
  ] as const) {
    it(`are refused where a client is ${JSON.stringify(parts)}`, async () => {
      const wrong = parts as object as Partial<EngineParts>;
      expect(await configProblems(() => configureEngine({ sequelize, ...wrong }))).to.deep.equal(problems);
      expect(await configProblems(engineLifespan(URL, { models: [], ...wrong }))).to.deep.equal(problems);
    });
  }

  it('have the names of options of configureEngine, which would ignore others', async () => {
    const wrong = { preparedStatments: false, createAll: true };
    const names = 'The options are sequelize, clickhouse, cache, preparedStatements, groupCommit.';
    expect(await configProblems(() => configureEngine({ sequelize, ...wrong }))).to.deep.equal([
      `configureEngine has no option 'preparedStatments'. Did you mean 'preparedStatements'? ${names}`,
      `configureEngine has no option 'createAll'. ${names}`,
    ]);
    expect(() => currentEngine()).to.throw('No engine is configured');
  });

  for (const [name, parts] of [
    ['an instance of Sequelize', sequelize],
    ['nothing', undefined],
    ['a DSN in the place of the instance', { sequelize: URL }],
  ] as const) {
    it(`are refused where they are ${name}`, async () =>
      expect(await configProblems(() => configureEngine(parts as never))).to.deep.equal([
        'configureEngine needs an instance of Sequelize by its name; write configureEngine({ sequelize }).',
      ]));
  }
});
