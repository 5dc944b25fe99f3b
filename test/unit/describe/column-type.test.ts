import { expect } from 'chai';
import { type DataType, DataTypes, type ModelAttributeColumnOptions } from 'sequelize';
import { type ColumnType, introspectColumnType } from '../../../src/describe/column-type.js';
import { defineModel } from '../../support/offline-models.js';

const INT2: ColumnType = { kind: 'integer', minimum: -32768, maximum: 32767 };
const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const REAL: ColumnType = { kind: 'float', maximum: 3.4028234663852886e38 };
const DOUBLE: ColumnType = { kind: 'float', maximum: Number.MAX_VALUE };

const CASES: readonly (readonly [label: string, dataType: DataType, expected: ColumnType])[] = [
  ['STRING', DataTypes.STRING, { kind: 'string', maxLength: 255 }],
  ['STRING(10)', DataTypes.STRING(10), { kind: 'string', maxLength: 10 }],
  ['STRING(80, true)', DataTypes.STRING(80, true), { kind: 'blob' }],
  ['CHAR', DataTypes.CHAR, { kind: 'string', maxLength: 255 }],
  ['CHAR(3)', DataTypes.CHAR(3), { kind: 'string', maxLength: 3 }],
  ['CHAR(3, true)', DataTypes.CHAR(3, true), { kind: 'blob' }],
  ['TEXT', DataTypes.TEXT, { kind: 'string', maxLength: null }],
  ['CITEXT', DataTypes.CITEXT, { kind: 'string', maxLength: null }],
  ['TINYINT', DataTypes.TINYINT, INT2],
  ['SMALLINT', DataTypes.SMALLINT, INT2],
  ['MEDIUMINT', DataTypes.MEDIUMINT, INT4],
  ['INTEGER', DataTypes.INTEGER, INT4],
  ['BIGINT', DataTypes.BIGINT, { kind: 'bigint' }],
  ['DECIMAL', DataTypes.DECIMAL, { kind: 'decimal', precision: null, scale: null }],
  ['DECIMAL(5)', DataTypes.DECIMAL(5), { kind: 'decimal', precision: 5, scale: 0 }],
  ['DECIMAL(5, 2)', DataTypes.DECIMAL(5, 2), { kind: 'decimal', precision: 5, scale: 2 }],
  ['FLOAT', DataTypes.FLOAT, DOUBLE],
  ['FLOAT(24)', DataTypes.FLOAT(24), REAL],
  ['FLOAT(25)', DataTypes.FLOAT(25), DOUBLE],
  ['REAL', DataTypes.REAL, REAL],
  ['DOUBLE', DataTypes.DOUBLE, DOUBLE],
  ['BOOLEAN', DataTypes.BOOLEAN, { kind: 'boolean' }],
  ['DATE', DataTypes.DATE, { kind: 'date' }],
  ['DATE(0)', DataTypes.DATE(0), { kind: 'date', digits: 0 }],
  ['DATE(3)', DataTypes.DATE(3), { kind: 'date', digits: 3 }],
  ['DATEONLY', DataTypes.DATEONLY, { kind: 'dateonly' }],
  ['TIME', DataTypes.TIME, { kind: 'time' }],
  ['UUID', DataTypes.UUID, { kind: 'uuid' }],
  ['UUIDV1', DataTypes.UUIDV1, { kind: 'uuid' }],
  ['UUIDV4', DataTypes.UUIDV4, { kind: 'uuid' }],
  ['JSON', DataTypes.JSON, { kind: 'json' }],
  ['JSONB', DataTypes.JSONB, { kind: 'json' }],
  ['ENUM', DataTypes.ENUM('draft', 'live'), { kind: 'enum', values: ['draft', 'live'] }],
  ['ENUM({ values })', DataTypes.ENUM({ values: ['draft'] }), { kind: 'enum', values: ['draft'] }],
  ['ARRAY(INTEGER)', DataTypes.ARRAY(DataTypes.INTEGER), { kind: 'array', element: INT4 }],
  [
    'ARRAY(ENUM)',
    DataTypes.ARRAY(DataTypes.ENUM('x')),
    { kind: 'array', element: { kind: 'enum', values: ['x'] } },
  ],
  [
    'ARRAY(ARRAY(DECIMAL(5, 2)))',
    DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.DECIMAL(5, 2))),
    { kind: 'array', element: { kind: 'array', element: { kind: 'decimal', precision: 5, scale: 2 } } },
  ],
  ['BLOB', DataTypes.BLOB, { kind: 'blob' }],
  ['VIRTUAL', DataTypes.VIRTUAL, { kind: 'virtual' }],
  ['VIRTUAL(STRING)', DataTypes.VIRTUAL(DataTypes.STRING, ['name']), { kind: 'virtual' }],
  ['RANGE', DataTypes.RANGE(DataTypes.DATE), { kind: 'range', bound: { kind: 'date', isPrecise: true } }],
  ['GEOMETRY', DataTypes.GEOMETRY('POINT', 4326), { kind: 'other', sqlType: 'GEOMETRY' }],
  ['GEOGRAPHY', DataTypes.GEOGRAPHY, { kind: 'other', sqlType: 'GEOGRAPHY' }],
  ['CIDR', DataTypes.CIDR, { kind: 'network', form: 'cidr' }],
  ['INET', DataTypes.INET, { kind: 'network', form: 'inet' }],
  ['MACADDR', DataTypes.MACADDR, { kind: 'network', form: 'macaddr' }],
  ['TSVECTOR', DataTypes.TSVECTOR, { kind: 'named', name: 'tsvector' }],
  ["'MONEY'", 'MONEY', { kind: 'money' }],
  ["' Interval day to second (3)'", ' Interval day to second (3)', { kind: 'interval' }],
  ["'BIT'", 'BIT', { kind: 'bit', length: 1, isVarying: false }],
  ["'bit varying(8)'", 'bit varying(8)', { kind: 'bit', length: 8, isVarying: true }],
  ["'varbit'", 'varbit', { kind: 'bit', length: null, isVarying: true }],
  ["'macaddr8[]'", 'macaddr8[]', { kind: 'array', element: { kind: 'network', form: 'macaddr8' } }],
  ["'int8range'", 'int8range', { kind: 'range', bound: { kind: 'bigint' }, isText: true }],
  ["'TSTZMULTIRANGE'", 'TSTZMULTIRANGE', { kind: 'multirange', bound: { kind: 'date', isPrecise: true } }],
  ["'my_range'", 'my_range', { kind: 'other', sqlType: 'my_range' }],
];

/** The type as PostgreSQL's dialect of Sequelize makes it of the user's text. */
function attachedType(attribute: ModelAttributeColumnOptions): DataType {
  const attributes: Readonly<Record<string, { type: DataType }>> = defineModel('Thing', {
    value: attribute,
  }).getAttributes();
  if (!attributes['value']) throw new Error('Sequelize lost the attribute');
  return attributes['value'].type;
}

describe('introspectColumnType', () => {
  for (const [label, dataType, expected] of CASES) {
    it(`describes ${label}, as written and as attached to a model`, () => {
      expect(introspectColumnType(dataType)).to.deep.equal(expected);
      expect(introspectColumnType(attachedType({ type: dataType }))).to.deep.equal(expected);
    });
  }

  it('describes HSTORE, which Sequelize attaches only with a package of its own', () =>
    expect(introspectColumnType(DataTypes.HSTORE)).to.deep.equal({ kind: 'other', sqlType: 'HSTORE' }));

  it('reads the members of an enum from the attribute too', () => {
    const type = attachedType({ type: DataTypes.ENUM, values: ['on', 'off'] });
    expect(introspectColumnType(type)).to.deep.equal({ kind: 'enum', values: ['on', 'off'] });
  });

  it('does not share the members of an enum with Sequelize', () => {
    const members = ['on', 'off'];
    const described = introspectColumnType(DataTypes.ENUM({ values: members }));
    members.push('broken');
    expect(described).to.deep.equal({ kind: 'enum', values: ['on', 'off'] });
  });
});
