import { expect } from 'chai';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import { IsString } from 'class-validator';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { compileSerializer, recordPlan } from '../../../src/respond/record-serializer.js';
import { nestedRecords } from '../../../src/respond/result-serializer.js';
import { attach, defineModel, planOf } from '../../support/offline-models.js';

type AnyModel = Parameters<typeof planOf>[0];

function serialize(model: AnyModel, record: object, options: object = {}): object {
  return compileSerializer(recordPlan(planOf(model, options)), nestedRecords(new Map())).serialize(record);
}

const File = defineModel(
  'File',
  {
    name: DataTypes.STRING,
    size: DataTypes.BIGINT,
    price: DataTypes.DECIMAL(5, 2),
    content: DataTypes.BLOB,
    owner: DataTypes.UUID,
    details: DataTypes.JSONB,
    label: { type: DataTypes.VIRTUAL, get: () => 'a file' },
    loud: {
      type: DataTypes.STRING,
      get(): string {
        return String(this.getDataValue('loud')).toUpperCase();
      },
    },
  },
  { timestamps: true },
);
const VALUES = {
  id: 1,
  name: 'a',
  size: '9007199254740993',
  price: '1.50',
  content: Buffer.from([1, 2]),
  owner: '6F9619FF-8B86-D011-B42D-00C04FC964FF',
  details: { a: [1, null] },
  loud: 'x',
  createdAt: new Date(0),
  updatedAt: new Date(1),
};

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

  describe('with a class of the user', () => {
    class FileRead {
      @Expose() id = 0;
      @Expose({ name: 'title' }) name = '';
      @IsString() size = '';
      @Expose() @Type(() => Number) price = 0;
      @Expose({ toPlainOnly: true })
      get summary(): string {
        return `${this.name} (${this.size})`;
      }
      @Expose() @Transform(({ obj }) => Object.keys(obj.details ?? {}).length) parts = 0;
      @Expose() createdAt = new Date();
      @Exclude() owner = '';
      content?: Buffer;
    }

    it('writes its properties only, under the names and in the form that it gives them', () => {
      expect(serialize(File, File.build(VALUES, { raw: true }), { readSchema: FileRead })).to.deep.equal({
        id: 1,
        title: 'a',
        size: '9007199254740993',
        price: 1.5,
        summary: 'a (9007199254740993)',
        parts: 1,
        createdAt: '1970-01-01T00:00:00.000Z',
      });
    });

    it('writes plain objects with more than the model has', () => {
      class Counted {
        @Expose() id = 0;
        @Expose() count = 0n;
        @Expose() picture = Buffer.alloc(0);
        @Expose() seen = new Date();
      }
      const record = { id: 1, count: 5n, picture: Buffer.from([1, 2]), seen: new Date(0), stranger: 1 };
      expect(serialize(File, record, { readSchema: Counted })).to.deep.equal({
        id: 1,
        count: '5',
        picture: 'AQI=',
        seen: '1970-01-01T00:00:00.000Z',
      });
    });
  });
});
