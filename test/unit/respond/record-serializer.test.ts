import { expect } from 'chai';
import { Exclude, Transform } from 'class-transformer';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { compileSerializer, recordPlan } from '../../../src/respond/record-serializer.js';
import { nestedRecords } from '../../../src/respond/result-serializer.js';
import { attach, planOf } from '../../support/offline-models.js';

type AnyModel = Parameters<typeof planOf>[0];

function serialize(model: AnyModel, record: object, options: object = {}): object {
  return compileSerializer(recordPlan(planOf(model, options)), nestedRecords(new Map())).serialize(record);
}

describe('compileSerializer', () => {
  describe('with the @Transform of the model', () => {
    @Table({ timestamps: false })
    class Product extends Model {
      @Transform(({ value }) => Number(value), { toPlainOnly: true })
      @Column(DataType.DECIMAL)
      declare price: string;
      @Transform(({ value }) => value?.getTime(), { toPlainOnly: true })
      @Column(DataType.DATE)
      declare made: Date;
      @Transform(({ value }) => `${value}1`)
      @Transform(({ value }) => `${value}2`)
      @Column(DataType.STRING)
      declare order: string;
      @Transform(({ value }) => value.trim(), { toClassOnly: true })
      @Column(DataType.STRING)
      declare name: string;
      @Transform(({ value, obj }) => `${value}/${obj.name}`, { toPlainOnly: true })
      @Column(DataType.STRING)
      declare path: string;
      @Column(DataType.BIGINT) declare stock: string;
      @Column(DataType.DATE) declare sold: Date;
      @Column(DataType.BLOB) declare picture: Buffer;
      @Column(DataType.JSONB) declare details: unknown;
      @Exclude() @Column(DataType.STRING) declare secret: string;
    }
    attach(Product);

    it('writes what it makes, and the others by their columns', () => {
      const record = Product.build(
        {
          id: 1,
          price: '12.50',
          made: new Date(5),
          order: 'x',
          name: ' a ',
          path: 'p',
          stock: 42,
          sold: new Date(0),
          picture: Buffer.from([1, 2]),
          details: { deep: { toString: 'x', list: [1] } },
          secret: 's',
        },
        { raw: true },
      );
      expect(serialize(Product, record)).to.deep.equal({
        id: 1,
        price: 12.5,
        made: 5,
        order: 'x12',
        name: ' a ',
        path: 'p/ a ',
        stock: '42',
        sold: '1970-01-01T00:00:00.000Z',
        picture: 'AQI=',
        details: { deep: { toString: 'x', list: [1] } },
      });
    });

    it('keeps JSON as it is, whatever others wrote into the table', () => {
      const details = JSON.parse('{"constructor":"Ferrari","deep":[{"__proto__":{"x":1}}],"then":"x"}');
      const shown = serialize(Product, { details }) as { details?: unknown };
      expect(JSON.stringify(shown.details)).to.equal(JSON.stringify(details));
      expect(({} as { x?: unknown }).x).to.equal(undefined);
    });
  });
});
