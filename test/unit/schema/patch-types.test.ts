import { expect } from 'chai';
import { Expose, Type } from 'class-transformer';
import { IsInt, IsObject, IsString, ValidateNested } from 'class-validator';
import { DataTypes } from 'sequelize';
import { patchTypes } from '../../../src/schema/body-json-schema.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const BOTH = ['application/json', 'application/merge-patch+json'];
const ONE = ['application/json'];

const City = defineModel('City', {
  name: DataTypes.STRING,
  tags: DataTypes.ARRAY(DataTypes.JSONB),
  address: DataTypes.INET,
});
const Shape = defineModel('Shape', {
  json: DataTypes.JSON,
  jsonb: DataTypes.JSONB,
  form: DataTypes.GEOMETRY,
  given: { type: DataTypes.VIRTUAL, set() {} },
  told: { type: DataTypes.VIRTUAL, get: () => 1 },
});

class Nested {
  @IsInt() declare value: number;
}

class Flat {
  @IsString() declare name: string;
  @Expose() declare other: string;
}

class Deep {
  @ValidateNested() @Type(() => Nested) declare one: Nested;
  @ValidateNested({ each: true }) @Type(() => Nested) declare many: Nested[];
  @IsObject() declare object: object;
  @IsString() declare jsonb: string;
}

describe('patchTypes', () => {
  it('has a merge patch where no property holds an object; arrays are replaced', () =>
    expect(patchTypes(planOf(City))).to.deep.equal({ mediaTypes: BOTH, unmerged: [] }));

  it('has none where one would have to be merged', () =>
    expect(patchTypes(planOf(Shape))).to.deep.equal({
      mediaTypes: ONE,
      unmerged: ['json', 'jsonb', 'form', 'given'],
    }));

  it("goes by the user's class where there is one", () => {
    expect(patchTypes(planOf(Shape, { updateSchema: Flat })).mediaTypes).to.deep.equal(BOTH);
    expect(patchTypes(planOf(Shape, { updateSchema: Deep })).unmerged).to.have.members([
      'one',
      'object',
      'jsonb',
    ]);
  });
});
