import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataTypes } from 'sequelize';
import { parseSort } from '../../../../src/features/sort.js';
import {
  type CursorScope,
  createCursorCodec,
  digestOfValues,
  InvalidCursorError,
  type Keyset,
} from '../../../../src/request/query/cursor-codec.js';
import { parseFilter } from '../../../../src/request/query/parse-filter.js';
import { caughtError } from '../../../support/caught-error.js';
import { defineModel, planOf } from '../../../support/offline-models.js';

const ATTRIBUTES = { name: DataTypes.STRING, age: DataTypes.INTEGER };
const OPTIONS = { pagination: 'cursor', filterAllow: ['name', 'age'], sortAllow: ['id', 'name', 'age'] };
const CITY = planOf(defineModel('City', ATTRIBUTES), OPTIONS);
const TOWN = planOf(defineModel('Town', ATTRIBUTES), OPTIONS);
/** The same with another place of NULLs. */
const PLACED = planOf(defineModel('City', ATTRIBUTES), {
  ...OPTIONS,
  sortAllow: { id: true, name: { nulls: 'first' }, age: true },
});
const SECRET = 'a secret of at least 16 characters';

function scopeOf({ plan = CITY, sort = 'name', q = 'age>18' } = {}): CursorScope {
  return { plan, sort: parseSort(plan, sort, []), digest: [parseFilter(plan, q, [])] };
}

const SCOPE = scopeOf();
const PLACE: Keyset = { values: ['Lyon', '7'], isInclusive: false };
const LONG: Keyset = { values: ['é'.repeat(2000), '7'], isInclusive: false };
const codec = createCursorCodec([SECRET]);
const CURSOR = codec.encode(PLACE, SCOPE);
const [PAYLOAD = '', TAG = ''] = CURSOR.split('.');

const keyset: fc.Arbitrary<Keyset> = fc.record({
  values: fc.tuple<[string | null, string]>(
    fc.option(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))),
    fc.integer().map(String),
  ),
  isInclusive: fc.boolean(),
});

async function refusal(cursor: string, scope = SCOPE, reader = codec): Promise<unknown> {
  const error = await caughtError(() => reader.decode(cursor, scope, 'after'));
  if (!(error instanceof InvalidCursorError)) throw error;
  return error.errors;
}

/** A cursor with any payload, signed as the library does it. */
function signed(payload: string, secret = SECRET): string {
  const tag = createHmac('sha256', secret).update(payload).digest('base64url').slice(0, 24);
  return `${payload}.${tag}`;
}

function repacked(change: (content: unknown[]) => unknown): string {
  const content = JSON.parse(Buffer.from(PAYLOAD, 'base64url').toString()) as unknown[];
  return signed(Buffer.from(JSON.stringify(change(content))).toString('base64url'));
}

const wrong = (code: string, detail: string) => [{ parameter: 'after', code, detail }];
const MALFORMED = wrong(
  'cursor.malformed',
  'This is not a cursor of this API; take it unchanged from next_cursor or prev_cursor.',
);
const MISMATCH = wrong(
  'cursor.mismatch',
  'The cursor was made for another list: the resource, sort or q is not the same. Start again without a cursor.',
);

describe('a cursor', () => {
  it('gives back the place it was made of', () =>
    fc.assert(
      fc.property(keyset, fc.constantFrom('after' as const, 'before' as const), (place, parameter) => {
        for (const each of [codec, createCursorCodec([])]) {
          const cursor = each.encode(place, SCOPE);
          expect(cursor, 'needs no encoding').to.match(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{24}$/);
          expect(each.decode(cursor, SCOPE, parameter)).to.deep.equal(place);
        }
      }),
    ));

  it('has the key and a digest where the values are too long, whatever they are', () => {
    const texts = fc.string({ unit: 'binary', minLength: 2000 }).map((text) => text.replaceAll('\0', ''));
    fc.assert(
      fc.property(texts, fc.boolean(), (text, isInclusive) => {
        const cursor = codec.encode({ values: [text.repeat(2), '7'], isInclusive }, SCOPE);
        expect(cursor.length).to.be.below(4096);
        const { digest, ...place } = codec.decode(cursor, SCOPE, 'after');
        if (digest === undefined) return;
        expect(place).to.deep.equal({ values: [null, '7'], isInclusive });
        expect(digest).to.equal(digestOfValues([text.repeat(2), '7']));
      }),
      { numRuns: 30 },
    );
    expect(codec.decode(codec.encode(LONG, SCOPE), SCOPE, 'after').digest).to.match(/^[\w-]{24}$/);
  });

  it('has all values where a digest would be one thing more', () => {
    const key: Keyset = { values: [LONG.values[0] as string], isInclusive: false };
    const scope = scopeOf({ sort: 'id' });
    expect(codec.decode(codec.encode(key, scope), scope, 'after')).to.deep.equal(key);
  });

  it('is refused with any other character anywhere', async () => {
    const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ~'];
    for (const reader of [codec, createCursorCodec([])]) {
      const cursor = reader.encode(PLACE, SCOPE);
      for (let index = 0; index < cursor.length; index += 1) {
        for (const character of characters.filter((each) => each !== cursor[index])) {
          const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
          expect(await refusal(changed, SCOPE, reader), changed).to.deep.equal(MALFORMED);
        }
      }
    }
  });

  it('is refused when a part is missing or added', async () => {
    for (let length = 0; length < CURSOR.length; length += 1) {
      expect(await refusal(CURSOR.slice(0, length))).to.deep.equal(MALFORMED);
    }
    for (const more of ['A', '=', '.', '.A', ' ', '\n', '\0']) {
      expect(await refusal(CURSOR + more)).to.deep.equal(MALFORMED);
      expect(await refusal(more + CURSOR)).to.deep.equal(MALFORMED);
    }
  });

  it('[D16] is refused with a tag of any other length, without comparing it', async () => {
    for (let bytes = 0; bytes <= 64; bytes += 1) {
      const tag = Buffer.alloc(bytes, 7).toString('base64url');
      expect(await refusal(`${PAYLOAD}.${tag}`), String(bytes)).to.deep.equal(MALFORMED);
    }
  });

  it('is refused in another spelling of the same bytes', async () => {
    for (const reader of [codec, createCursorCodec([])]) {
      const cursor = reader.encode(PLACE, SCOPE);
      const [payload = '', tag = ''] = cursor.split('.');
      // Base64 for base64url, and characters whose lowest byte is the one of the right one.
      const wide = tag.replace(/^./, (first) => String.fromCharCode(first.charCodeAt(0) + 256));
      for (const end of [`=.${tag}`, `.${tag}==`, `.${tag.replace(/^./, '/')}`, `.${wide}`]) {
        const twin = payload + end;
        expect(await refusal(twin, SCOPE, reader), twin).to.deep.equal(MALFORMED);
      }
    }
  });

  it('is refused where the last character of its payload has bits that say nothing', async () => {
    const places = ['L', 'Ly', 'Lyo'].map((name): Keyset => ({ values: [name, '7'], isInclusive: false }));
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const reader of [codec, createCursorCodec([])]) {
      const cursors = places.map((place) => reader.encode(place, SCOPE).split('.') as [string, string]);
      const loose = cursors.filter(([payload]) => payload.length % 4 !== 0);
      expect(loose).not.to.be.empty;
      for (const [payload, tag] of loose) {
        const twin = payload.slice(0, -1) + alphabet[alphabet.indexOf(payload.at(-1) ?? '') ^ 1];
        expect(Buffer.from(twin, 'base64url')).to.deep.equal(Buffer.from(payload, 'base64url'));
        expect(await refusal(`${twin}.${tag}`, SCOPE, reader)).to.deep.equal(MALFORMED);
      }
    }
  });

  it('is refused when it is random', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.base64String()),
        async (text) => {
          expect(await refusal(text)).to.deep.equal(MALFORMED);
          expect(await refusal(`${text}.${TAG}`)).to.deep.equal(MALFORMED);
        },
      ),
    ));

  it('[D13] is refused when it is huge, in no time', async () => {
    const start = process.cpuUsage();
    expect(await refusal(signed('A'.repeat(64 * 1024)))).to.deep.equal(MALFORMED);
    expect(await refusal('.'.repeat(1_000_000))).to.deep.equal(MALFORMED);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).to.be.below(50);
  });

  describe('of another list', () => {
    const others: Readonly<Record<string, CursorScope>> = {
      resource: scopeOf({ plan: TOWN }),
      prefix: scopeOf({ plan: planOf(CITY.model, { ...OPTIONS, prefix: '/places' }) }),
      direction: scopeOf({ sort: '-name' }),
      sort: scopeOf({ sort: 'age' }),
      'place of NULLs': scopeOf({ plan: PLACED }),
      'number of columns': scopeOf({ sort: 'name,age' }),
      q: scopeOf({ q: 'age>19' }),
      operator: scopeOf({ q: 'age>=18' }),
      'no q': scopeOf({ q: '' }),
    };
    for (const [name, scope] of Object.entries(others)) {
      it(`is refused: ${name}`, async () => {
        expect(await refusal(CURSOR, scope)).to.deep.equal(MISMATCH);
        expect(await refusal(codec.encode(PLACE, scope))).to.deep.equal(MISMATCH);
      });
    }

    it('is refused where neither has a condition', async () => {
      const all = ['name', '-name', 'age', 'age,name', '-age,name'].map((sort) => scopeOf({ sort, q: '' }));
      const [first = SCOPE] = all;
      const scopes: CursorScope[] = [
        ...all,
        { ...first, digest: [null, 'tenant 1'] },
        { ...first, digest: [null, 'tenant 2'] },
        { ...first, digest: [null, ['deleted', 'only']] },
        { ...first, digest: [null, ['deleted', 'with']] },
        { ...first, digest: [null, ['deleted', 'with'], 'tenant 1'] },
      ];
      for (const scope of scopes) {
        const place: Keyset = { values: scope.sort.map(() => '7'), isInclusive: false };
        const cursor = codec.encode(place, scope);
        expect(codec.decode(cursor, scope, 'after')).to.deep.equal(place);
        for (const other of scopes.filter((each) => each !== scope)) {
          expect(await refusal(cursor, other)).to.deep.equal(MISMATCH);
        }
      }
    });

    it('is taken where only the spelling is another', () => {
      for (const scope of [
        scopeOf({ q: ' age =gt= "18" ' }),
        scopeOf({ sort: '+name' }),
        scopeOf({ sort: 'name,id' }),
      ]) {
        expect(codec.decode(CURSOR, scope, 'after')).to.deep.equal(PLACE);
      }
    });
  });

  describe('with a right tag and a wrong payload', () => {
    const WRONG: Readonly<Record<string, string>> = {
      'another version': repacked(([, ...rest]) => [2, ...rest]),
      'no version': repacked(([, ...rest]) => [null, ...rest]),
      'no digest': repacked(([version, , ...rest]) => [version, null, ...rest]),
      'no direction': repacked(([version, digest, , ...rest]) => [version, digest, true, ...rest]),
      'a number': repacked((content) => [...content.slice(0, -1), 7]),
      'an object': repacked((content) => [...content.slice(0, -1), { $gt: '' }]),
      'a NUL': repacked((content) => [...content.slice(0, -1), 'a\0']),
      'an object for a list': repacked((content) => ({ ...content })),
      nothing: repacked(() => null),
      'no JSON': signed(Buffer.from('not JSON').toString('base64url')),
      'nothing at all': signed(''),
    };
    for (const [name, cursor] of Object.entries(WRONG)) {
      it(`is refused: ${name}`, async () => expect(await refusal(cursor)).to.deep.equal(MALFORMED));
    }

    for (const [name, ...content] of [
      ['no key beside a digest', 2, 'digest', null, null],
      ['no key beside a digest, inclusive', 3, 'digest', null, null],
      ['more than the key beside a digest', 2, 'digest', 'Lyon', '7'],
      ['more than the key beside a digest, inclusive', 3, 'digest', 'Lyon', '7'],
      ['no digest where there should be one', 2, null, null, '7'],
      ['no digest where there should be one, inclusive', 3, null, null, '7'],
      ['flags that there are not', 4, 'digest', null, '7'],
    ]) {
      it(`is refused: ${name}`, async () => {
        const cursor = repacked(([version, list]) => [version, list, ...content]);
        expect(await refusal(cursor)).to.deep.equal(MALFORMED);
      });
    }

    it('is refused: another number of values', async () => {
      expect(await refusal(repacked((content) => [...content, '1']))).to.deep.equal(MISMATCH);
      expect(await refusal(repacked((content) => content.slice(0, -1)))).to.deep.equal(MISMATCH);
    });
  });
});
