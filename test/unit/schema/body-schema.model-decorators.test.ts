import { expect } from 'chai';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  Equals,
  getMetadataStorage,
  IsEmail,
  IsInt,
  IsString,
  Length,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { AllowNull, Column, DataType, Model, Table } from 'sequelize-typescript';
import { caughtError } from '../../support/caught-error.js';
import { attach } from '../../support/offline-models.js';
import { bodyIssues, parseCreate, parseUpdate } from '../../support/parse-bodies.js';

/** The issue of an attribute that is no date and time. */
const noMoment = (name: string) => ({
  pointer: `/${name}`,
  code: 'isDateTime',
  detail:
    `${name} must be an RFC 3339 date and time with an offset and at most milliseconds, ` +
    'such as "2026-01-31T08:00:00.000Z".',
});

describe('parseBody', () => {
  describe('with the class-validator decorators of the model', () => {
    @Table({ timestamps: false })
    class User extends Model {
      @IsEmail() @Column(DataType.STRING) declare email: string | null;
    }
    attach(User);

    it('does not apply them to null where the column allows it', async () =>
      expect(await parseUpdate(User, { email: null })).to.deep.equal({ email: null }));

    it('gives the class of the model no rules of the library', async () => {
      await parseCreate(User, {});
      const rules = getMetadataStorage().getTargetValidationMetadatas(User, '', true, false);
      expect(rules.map(({ name, propertyName }) => [name, propertyName])).to.deep.equal([
        ['isEmail', 'email'],
      ]);
    });

    it('tells none of them about a value of another type of JSON', async () => {
      @Table({ timestamps: false })
      class Score extends Model {
        @Min(1) @Max(5) @Column(DataType.INTEGER) declare stars: number;
        @Min(1) @Max(5) @Column(DataType.DOUBLE) declare mean: number;
        @Length(3, 9) @Column(DataType.STRING) declare text: string;
        @ArrayMaxSize(2) @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[];
        @Equals(true) @Column(DataType.BOOLEAN) declare isFair: boolean;
      }
      attach(Score);
      const wrong = { stars: '5', mean: [], text: 5, tags: 'a', isFair: 1 };
      expect(await bodyIssues(parseCreate(Score, wrong))).to.deep.equal([
        { pointer: '/stars', code: 'isInt', detail: 'stars must be an integer.' },
        { pointer: '/mean', code: 'isNumber', detail: 'mean must be a number.' },
        { pointer: '/text', code: 'isString', detail: 'text must be a string.' },
        { pointer: '/tags', code: 'isArray', detail: 'tags must be an array.' },
        { pointer: '/isFair', code: 'isBoolean', detail: 'isFair must be true or false.' },
      ]);
      expect(await bodyIssues(parseCreate(Score, { stars: 5.5, tags: ['a', 'b', 4] }))).to.deep.equal([
        { pointer: '/stars', code: 'isInt', detail: 'stars must be an integer.' },
        { pointer: '/stars', code: 'max', detail: 'stars must not be greater than 5.' },
        {
          pointer: '/tags',
          code: 'isStringEach',
          detail: 'tags must hold only values of which each must be a string.',
        },
        { pointer: '/tags', code: 'arrayMaxSize', detail: 'tags must contain no more than 2 elements.' },
      ]);
    });

    it('waits for those that are asynchronous', async () => {
      @Table({ timestamps: false })
      class Account extends Model {
        @ValidateBy({
          name: 'isFree',
          validator: {
            validate: async (value) => value !== 'taken',
            defaultMessage: () => '$property is taken',
          },
        })
        @Column(DataType.STRING)
        declare login: string;
      }
      attach(Account);
      expect(await parseCreate(Account, { login: 'free' })).to.deep.equal({ login: 'free' });
      expect(await bodyIssues(parseCreate(Account, { login: 'taken' }))).to.deep.equal([
        { pointer: '/login', code: 'isFree', detail: 'login is not valid.' },
      ]);
    });

    it('applies those of a class that the model extends', async () => {
      abstract class Base extends Model {
        @IsEmail() @Column(DataType.STRING) declare email: string;
      }
      @Table({ timestamps: false })
      class Member extends Base {
        @Column(DataType.STRING) declare name: string;
      }
      attach(Member);
      expect(await bodyIssues(parseCreate(Member, { email: 'x' }))).to.deep.equal([
        { pointer: '/email', code: 'isEmail', detail: 'email must be an email.' },
      ]);
    });

    it('checks a JSON value against the class of its @Type', async () => {
      class Address {
        @IsString() street = '';
        @IsInt() number = 0;
      }
      @Table({ timestamps: false })
      class House extends Model {
        @ValidateNested() @Type(() => Address) @Column(DataType.JSONB) declare address: Address;
        @ValidateNested({ each: true })
        @Type(() => Address)
        @Column(DataType.JSONB)
        declare others: Address[];
      }
      attach(House);
      const right = { street: 'Main', number: 5 };
      const body = { address: right, others: [right] };
      expect(JSON.parse(JSON.stringify(await parseCreate(House, body)))).to.deep.equal(body);
      const wrong = { street: 5, number: 5 };
      expect(await bodyIssues(parseCreate(House, { address: wrong, others: [right, wrong] }))).to.deep.equal([
        { pointer: '/address/street', code: 'isString', detail: 'street must be a string.' },
        { pointer: '/others/1/street', code: 'isString', detail: 'street must be a string.' },
      ]);
      expect(await bodyIssues(parseUpdate(House, { address: 'Main 5' }))).to.deep.equal([
        {
          pointer: '/address',
          code: 'nestedValidation',
          detail: 'nested property address must be either object or array.',
        },
      ]);
    });

    it('ignores @Type elsewhere, which would guess', async () => {
      @Table({ timestamps: false })
      class Event extends Model {
        @Type(() => Number) @Column(DataType.INTEGER) declare seats: number;
        @Type(() => Date) @Column(DataType.DATE) declare begin: Date;
      }
      attach(Event);
      expect(await bodyIssues(parseCreate(Event, { seats: '', begin: '1' }))).to.deep.equal([
        { pointer: '/seats', code: 'isInt', detail: 'seats must be an integer.' },
        noMoment('begin'),
      ]);
    });
  });

  describe('with the @Transform of the model', () => {
    @Table({ timestamps: false })
    class Person extends Model {
      @Transform(({ value }) => value.trim())
      @AllowNull(false)
      @Column(DataType.STRING(5))
      declare name: string;
      @Transform(({ value }) => `${value}!`, { toPlainOnly: true })
      @Column(DataType.STRING)
      declare motto: string;
      @Transform(({ value }) => new Date(value.getTime() + 1)) @Column(DataType.DATE) declare born: Date;
      @Transform(({ value }) => `${value}1`)
      @Transform(({ value }) => `${value}2`)
      @Column(DataType.STRING)
      declare order: string;
    }
    attach(Person);

    it('applies it to the parsed value, before the rules', async () => {
      const body = { name: '   Ada   ', born: '1970-01-01T00:00:00Z', order: 'x' };
      expect(await parseCreate(Person, body)).to.deep.equal({
        name: 'Ada',
        motto: null,
        born: new Date(1),
        order: 'x12',
      });
    });

    it('leaves out one that is for answers only', async () =>
      expect(await parseUpdate(Person, { motto: 'x' })).to.deep.equal({ motto: 'x' }));

    it('refuses by the rules a value that it throws for', async () => {
      expect(await bodyIssues(parseUpdate(Person, { name: 5, born: 'x' }))).to.deep.equal([
        { pointer: '/name', code: 'isString', detail: 'name must be a string.' },
        noMoment('born'),
      ]);
      expect(await bodyIssues(parseUpdate(Person, { name: null }))).to.deep.equal([
        { pointer: '/name', code: 'isDefined', detail: 'name must not be null.' },
      ]);
      expect(await parseUpdate(Person, { born: null })).to.deep.equal({ born: null });
    });

    it('lets through what it throws for a right value, which is a mistake in it', async () => {
      const mistake = new Error('mistake');
      @Table({ timestamps: false })
      class Broken extends Model {
        @Transform(() => {
          throw mistake;
        })
        @Column(DataType.STRING)
        declare name: string;
      }
      attach(Broken);
      expect(await caughtError(() => parseCreate(Broken, { name: 'Ada' }))).to.equal(mistake);
    });
  });
});
