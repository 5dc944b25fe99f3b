import { expect } from 'chai';
import fc from 'fast-check';
import { types } from 'pg';
import { isoText, momentInUtc, PreciseDate } from '../../../src/describe/exact-time.js';
import { type ParsingClient, parseExactly } from '../../../src/postgres/session/exact-parsers.js';

type Parse = (text: string) => unknown;

const TIMESTAMPTZ = 1184;
const driver = types.getTypeParser(TIMESTAMPTZ, 'text') as Parse;

/** A moment as PostgreSQL writes it in UTC: without zeros at the end of its seconds. */
const texts = fc
  .tuple(
    fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
    fc.nat(999),
  )
  .map(([date, micros]) => {
    const text = `${date.toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}`;
    return `${text.replace('T', ' ').replace(/\.?0+$/, '')}+00`;
  });

/** The parser of moments that a connection has in the end. */
function parserOf(own: Parse): Parse {
  const parsers = new Map<number, Parse>([[TIMESTAMPTZ, own]]);
  const client: ParsingClient = {
    getTypeParser: (oid) =>
      (parsers.get(oid) ?? types.getTypeParser(oid, 'text')) as (text: string) => string,
    setTypeParser: (oid, _format, parse) => void parsers.set(oid, parse as Parse),
  };
  parseExactly(client, '+00:00');
  return parsers.get(TIMESTAMPTZ) as Parse;
}

describe('a moment', () => {
  it('has the text that JavaScript writes', () => {
    fc.assert(fc.property(fc.date({ noInvalidDate: true }), (date) => isoText(date) === date.toISOString()));
    const precise = new PreciseDate(0, 7);
    expect(isoText(precise)).to.equal('1970-01-01T00:00:00.000007Z');
  });

  it('is the one that the driver reads of a text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const read = momentInUtc(text);
        return read === undefined
          ? text.startsWith('00')
          : read.getTime() === (driver(text) as Date).getTime();
      }),
    );
    for (const text of [
      'infinity',
      '12026-01-31 08:00:00+00',
      '2026-01-31 08:00:00+05:30',
      '0044-03-15 08:00:00+00 BC',
    ])
      expect(momentInUtc(text)).to.equal(undefined);
  });

  it('is read by a parser of the user', () => {
    class Moment extends Date {}
    const later = (text: string) => new Date((driver(text) as Date).getTime() + 1);
    const text = '2026-01-31 08:00:00+00';
    expect(parserOf((each) => new Moment(driver(each) as Date))(text)).to.be.instanceOf(Moment);
    expect(parserOf(later)(text)).to.deep.equal(later(text));
    expect(parserOf(driver)(text)).to.deep.equal(driver(text));
  });
});
