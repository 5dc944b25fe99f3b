import 'reflect-metadata';
import { expect } from 'chai';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsDate,
  IsDefined,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  registerDecorator,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { classJsonSchema } from '../../../src/schema/class-json-schema.js';

enum Level {
  Low = 'low',
  High = 'high',
}

class Tag {
  @IsString() name!: string;
}

function IsPalindrome(): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isPalindrome',
      target: target.constructor,
      propertyName: String(property),
      validator: { validate: (text) => text === [...String(text)].reverse().join('') },
    });
}

class Everything {
  @Length(2, 5) @Matches(/^[a-z]+$/) code!: string;
  @Matches(/^[a-z]+$/i) anyCase!: string;
  @IsInt() @Min(1) @Max(9) count!: number;
  @IsEnum(Level) level!: Level;
  @IsIn([1, 2, null]) choice!: number;
  @IsOptional() @IsEmail() email?: string | null;
  @IsArray() @IsString({ each: true }) @MaxLength(3, { each: true }) @ArrayMaxSize(4) words!: string[];
  @ArrayNotEmpty() @ValidateNested({ each: true }) @Type(() => Tag) tags!: Tag[];
  @ValidateNested() @IsDefined() @Type(() => Tag) tag!: Tag;
  @IsDate() @Type(() => Date) moment!: Date;
  @IsNotEmpty() title!: string;
  @IsPalindrome() mirror!: string;
  @Allow() anything: unknown;
  @ValidateIf((body) => body.count > 1) @IsString() sometimes?: string;
  @IsString() @Transform(({ value }) => String(value)) shaped!: string;
  @IsString() status = 'open';
}

class Node {
  @IsOptional() @ValidateNested() @Type(() => Node) next?: Node;
}

describe('classJsonSchema', () => {
  it('says what the decorators of class-validator say', () => {
    const tag = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    };
    expect(classJsonSchema(Everything)).to.deep.equal({
      type: 'object',
      properties: {
        code: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
        // A flag is nothing that a JSON Schema has.
        anyCase: { type: 'string' },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        level: { type: 'string', enum: ['low', 'high'] },
        choice: { enum: [1, 2, null] },
        email: { type: ['string', 'null'], format: 'email' },
        words: { type: 'array', items: { type: 'string', maxLength: 3 }, maxItems: 4 },
        tags: { type: 'array', minItems: 1, items: tag },
        tag,
        moment: { type: 'string', format: 'date-time' },
        title: { minLength: 1 },
        // Only the user's own code has their rules.
        mirror: {},
        anything: {},
        sometimes: {},
        shaped: {},
        status: { type: 'string' },
      },
      required: ['code', 'anyCase', 'count', 'level', 'choice', 'words', 'tags', 'tag', 'moment', 'title'],
      additionalProperties: false,
    });
  });

  it('ends where a class is inside itself', () =>
    expect(classJsonSchema(Node)).to.deep.equal({
      type: 'object',
      properties: { next: { type: ['object', 'null'] } },
      additionalProperties: false,
    }));

  it('takes a class whose constructor throws', () => {
    class Difficult {
      @IsString() name: string;
      constructor() {
        this.name = '';
        throw new Error('not now');
      }
    }
    expect(classJsonSchema(Difficult)).to.deep.include({ required: ['name'] });
  });
});
