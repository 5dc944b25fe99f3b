/** A record is the same text wherever it is answered: alone, in a list, and inside of others. */
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { BelongsTo, Column, DataType, HasMany, type Model, Table } from 'sequelize-typescript';
import { Crud, crudController, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { HARD_COLUMNS, HARD_VALUES, nullableColumn, Specimen } from '../../support/specimen.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Kept extends NumberedRow {
  @Column(DataType.INTEGER) declare holderId: number;
}

/** Types that lists cannot be sorted by, and code of the user's. */
@Crud({ sortAllow: ['id'], filterAllow: ['holderId'] } as object)
@Table({ tableName: 'odds', timestamps: false })
class Odd extends Kept {
  @Column(DataType.JSON) declare json: unknown;
  @Column(DataType.JSONB) declare jsonb: unknown;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare words: string[] | null;
  @Column(DataType.ARRAY(DataType.DATE)) declare moments: Date[] | null;
  @Column(DataType.CHAR(4)) declare code: string | null;
}

@Crud({ filterAllow: ['holderId'] } as object)
@Table({ tableName: 'loud', timestamps: false })
class Loud extends Kept {
  @Column({
    type: DataType.TEXT,
    get(this: Model) {
      return `${this.getDataValue('name')}!`;
    },
  })
  declare name: string;

  @Column(DataType.VIRTUAL(DataType.TEXT, ['name']))
  get greeting(): string {
    return `Hello, ${this.getDataValue('name')}`;
  }

  @Column(DataType.VIRTUAL(DataType.JSON))
  get kept(): object {
    return { quiet: Quiet.build({ id: 7, name: 'hidden', count: 1 }) };
  }

  @Transform(({ value }) => [value], { toPlainOnly: true })
  @Column(DataType.INTEGER)
  declare count: number;

  @Exclude({ toPlainOnly: true }) @Column(DataType.TEXT) declare secret: string;
}

/** Only Sequelize makes its records: the constructor sets a field that a getter reads. */
@Crud({ filterAllow: ['holderId'] } as object)
@Table({ tableName: 'marked', timestamps: false })
class Marked extends Kept {
  mark = '>';

  @Column({
    type: DataType.TEXT,
    get(this: Marked) {
      return `${this.mark}${this.getDataValue('name')}`;
    },
  })
  declare name: string;
}

class Shown {
  @Expose() id = 0;
  @Expose({ name: 'count' }) count = 0;
}

@Crud({ readSchema: Shown, prefix: '/quiet', filterAllow: ['holderId'] } as object)
@Table({ tableName: 'quiet', timestamps: false })
class Quiet extends Kept {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.INTEGER) declare count: number;
}

@Crud({
  pageSize: { max: 9 },
  include: Object.fromEntries(
    ['odds', 'loud', 'quiet', 'marked', 'specimens', 'odd', 'louds'].map((name) => [name, UNGUARDED]),
  ),
} as object)
@Table({ tableName: 'holders', timestamps: false })
class Holder extends NumberedRow {
  @HasMany(() => Odd, { foreignKey: 'holderId', constraints: false }) declare odds?: unknown;
  @HasMany(() => Loud, { foreignKey: 'holderId', constraints: false }) declare loud?: unknown;
  @HasMany(() => Quiet, { foreignKey: 'holderId', constraints: false }) declare quiet?: unknown;
  @HasMany(() => Marked, { foreignKey: 'holderId', constraints: false }) declare marked?: unknown;
  @HasMany(() => Specimen, { foreignKey: 'whole', constraints: false }) declare specimens?: unknown;
  @BelongsTo(() => Odd, { foreignKey: 'id', constraints: false }) declare odd?: unknown;
  @BelongsTo(() => Loud, { foreignKey: 'id', constraints: false }) declare louds?: unknown;
}

const SERVED = [Holder, Odd, Loud, Quiet, Marked, Specimen] as unknown as ModelClass[];

describe('[R20] including whole records', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => {
    const engine = { models: [Holder, Odd, Loud, Specimen, Quiet, Marked] };
    return { models: SERVED, bootstrap: { logger: log }, engine };
  });

  before(async () => {
    const columns = HARD_COLUMNS.filter((name) => name !== 'whole');
    const literal = (text: string | undefined) =>
      text === undefined ? 'NULL' : site.engine.sequelize.escape(text);
    const rows = Array.from({ length: 20 }, (_, row) => {
      const values = columns.flatMap((name) => {
        const text = HARD_VALUES[name][row % HARD_VALUES[name].length];
        return [literal(text), row % 3 === 0 ? 'NULL' : literal(text)];
      });
      return `(${row}, 1, ${values})`;
    });
    const names = columns.flatMap((name) => [`"${name}"`, `"${nullableColumn(name)}"`]);
    await site.engine.sequelize.query(`
      INSERT INTO holders VALUES (1), (2), (3);
      INSERT INTO odds VALUES
        (1, 1, '{"b": 12345678901234567890, "a": 2, "__proto__": 1}', '{"b": 1e400, "a": [null, "\u2028"]}', '\\x00ff', '{a,NULL,"b,c"}',
          '{infinity,NULL,2026-01-31 08:00:00.123999+00}', 'a'),
        (2, 1, 'null', 'null', '', '{{a,b},{c,d}}', '{}', '"\\'), (3, 2, NULL, NULL, NULL, NULL, NULL, NULL);
      INSERT INTO loud (id, "holderId", name, count, secret) VALUES (1, 1, 'Ann', 3, 'x'), (2, 1, NULL, NULL, 'y');
      INSERT INTO quiet (id, "holderId", name, count) VALUES (1, 1, 'Ann', 3), (2, 1, NULL, NULL);
      INSERT INTO marked (id, "holderId", name) VALUES (1, 1, 'Ann'), (2, 1, NULL);
      INSERT INTO specimens (id, whole, ${names}) VALUES ${rows};`);
  });

  const get = async (path: string): Promise<string> => {
    log.clear();
    const { status, text } = await site.agent.get(path).buffer(true);
    expect(status, `${path}: ${log.text}${text}`).to.equal(200);
    return text;
  };
  /** The text of the items of a list. */
  const itemsOf = async (path: string): Promise<string> => {
    const text = await get(path);
    return text.slice(text.indexOf('"items":'), text.lastIndexOf('],') + 1);
  };

  it('gives the text of the list of their own, for every type and for code of the user', async () => {
    for (const [relation, list, fields] of [
      ['odds', '/odds?q=holderId==1', ''],
      ['odds', '/odds?q=holderId==1', 'jsonb,bytes'],
      ['loud', '/louds?q=holderId==1', ''],
      ['loud', '/louds?q=holderId==1', 'greeting'],
      ['loud', '/louds?q=holderId==1', 'count,name'],
      ['quiet', '/quiet?q=holderId==1', ''],
      ['quiet', '/quiet?q=holderId==1', 'count'],
      ['marked', '/markeds?q=holderId==1', ''],
      ['marked', '/markeds?q=holderId==1', 'name'],
      ['specimens', '/specimens?size=20', ''],
      ['specimens', '/specimens?size=20', 'moment,realOrNull,floatOrNull'],
    ] as const) {
      const own = await itemsOf(`${list}${fields && `&fields=${fields}`}`);
      const size = relation === 'specimens' ? '&specimens.size=20' : '';
      const path = `/holders/1?include=${relation}${size}${fields && `&${relation}.fields=${fields}`}`;
      expect(await get(path), path).to.equal(`{"id":1,"${relation}":{${own},"has_next":false}}`);
    }
  });

  it('gives the text of the record of its own', async () => {
    for (const id of [1, 2, 3]) {
      const odd = await get(`/odds/${id}`);
      expect(await get(`/holders/${id}?include=odd`)).to.equal(`{"id":${id},"odd":${odd}}`);
    }
    expect(await get('/markeds/1')).to.include('>Ann');
    const loud = await get('/louds/2');
    expect(loud).to.include('Hello').and.to.not.include('secret');
    expect(await get('/holders/2?include=louds')).to.equal(`{"id":2,"louds":${loud}}`);
    expect(await get('/holders/3?include=louds,quiet')).to.equal(
      '{"id":3,"quiet":{"items":[],"has_next":false},"louds":null}',
    );
  });

  it('gives the same where their models are not served, also of records that a getter brings up', async () => {
    const { agent } = await buildApp({ models: [Holder], logger: log });
    const path = '/holders/1?include=loud';
    const { text } = await agent.get(path).expect(200);
    expect(text).to.equal(await get(path));
    expect(text).to.include('{"quiet":{"id":7,"count":1}}').and.to.not.include('hidden');
  });

  it('gives records that a getter brings up by the schema that their controller has', async () => {
    class Counted {
      @Expose() count = 0;
    }
    class Quiets extends crudController(Quiet, { readSchema: Counted }) {}
    const { agent } = await buildApp({ models: [Loud], controllers: [Quiets], logger: log });
    expect((await agent.get('/louds/1').expect(200)).body.kept).to.deep.equal({ quiet: { count: 1 } });
  });
});
