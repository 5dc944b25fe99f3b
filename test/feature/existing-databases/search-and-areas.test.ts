/** Types whose values are hidden, or that have no comparison: what answers show, and what the options of a model may name. */
import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';

const WORDS = { type: DataType.TSVECTOR, field: 'words' };

@Crud({ prefix: '/hidden' })
@Table({ tableName: 'texts', timestamps: false })
class Hidden extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(WORDS) declare words: unknown;
}

@Crud({ prefix: '/exposed', filterAllow: '*' })
@Table({ tableName: 'texts', timestamps: false })
class Exposed extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Expose() @Column(WORDS) declare words: unknown;
}

class TextRead {
  @Expose() id!: number;
  @Expose() words!: string;
}

@Crud({ prefix: '/by-class', readSchema: TextRead })
@Table({ tableName: 'texts', timestamps: false })
class ByClass extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(WORDS) declare words: unknown;
}

/** Options that name columns which cannot be compared. */
function shaped(options: CrudOptions): ModelClass {
  @Crud({ prefix: '/shapes', ...options })
  @Table({ tableName: 'shapes', timestamps: false })
  class Shape extends KeyedRow {
    @Column('box') declare area: string;
    @Column('path') declare way: string;
    @Column(DataType.TSVECTOR) declare words: unknown;
  }
  return Shape;
}

const REFUSED = shaped({
  filterAllow: { area: ['=='], way: ['=in='], words: true },
  sortAllow: ['area'],
} as object);

describe('a column that no value is compared with', () => {
  const site = serveTestApp(() => ({
    models: [Hidden, Exposed, ByClass, REFUSED],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  it('is hidden where it is a search, unless a decorator or a class shows it, and is never written', async () => {
    await site.engine.sequelize.query(`
      CREATE TABLE texts (id int PRIMARY KEY, title text, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', title)) STORED)`);
    const logger = new CapturedLog();
    const { agent, crud } = await buildApp({
      models: [Hidden, Exposed, ByClass],
      logger,
      indexAdvice: false,
    });
    const words = "'a':1 'b':2";
    for (const [path, shown] of [
      ['/hidden', { id: 1, title: 'a b' }],
      ['/exposed', { id: 2, title: 'a b', words }],
      ['/by-class', { id: 3, words }],
    ] as const) {
      const { status, body } = await agent.post(path).send({ id: shown.id, title: 'a b' });
      expect([status, body], path).to.deep.equal([201, shown]);
      expect((await agent.get(`${path}/${shown.id}`)).body).to.deep.equal(shown);
      const refused = await agent.patch(`${path}/${shown.id}`).send({ words: "'x'" });
      expect([refused.status, refused.body.errors[0].pointer], path).to.deep.equal([422, '/words']);
    }
    expect((await agent.get('/exposed?q=words=isnull=false')).body.total).to.equal(3);
    expect((await agent.get('/exposed?q=words==a')).status).to.equal(400);
    const { schemas } = crud.openapi().components;
    expect(Object.keys(schemas['HiddenRead']?.properties ?? {})).to.deep.equal(['id', 'title']);
    expect(Object.keys(schemas['HiddenCreate']?.properties ?? {})).to.deep.equal(['id', 'title']);
  });

  it('is refused in the options of a model, with the reason', async () => {
    expect(
      await configProblems(() => buildApp({ models: [REFUSED], logger: new CapturedLog() })),
    ).to.deep.equal([
      "Shape: filterAllow.area has the operator '==', which a box column does not have; use some of =isnull=. PostgreSQL compares the areas of such values, and not the values.",
      "Shape: filterAllow.way has the operator '=in=', which a path column does not have; use some of =isnull=. PostgreSQL compares the number of points of paths.",
      "Shape: filterAllow names 'words', which its type tsvector hides from answers; remove it, or its values can be guessed by comparing.",
      "Shape: sortAllow names 'area', of type box, which has no order; remove it.",
    ]);
  });
});
