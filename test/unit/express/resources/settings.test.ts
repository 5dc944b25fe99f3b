import { expect } from 'chai';
import { parseBodyLimit } from '../../../../src/express/resources/settings.js';
import { ConfigError } from '../../../../src/util/config-error.js';

describe('parseBodyLimit', () => {
  for (const [limit, expected] of [
    [undefined, 102_400],
    ['100kb', 102_400],
    ['1mb', 1_048_576],
    ['500', 500],
    [1, 1],
    [2_000_000, 2_000_000],
  ] as const) {
    it(`makes ${expected} bytes of ${limit}`, () => {
      expect(parseBodyLimit(limit)).to.equal(expected);
    });
  }

  for (const [limit, shown] of [
    ['', '""'],
    ['lots', '"lots"'],
    ['-1kb', '"-1kb"'],
    ['0', '"0"'],
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [null, 'null'],
    [5n, '5n'],
    [['1kb'], "[ '1kb' ]"],
  ] as const) {
    it(`refuses ${shown}, which must not mean that there is no limit`, () => {
      expect(() => parseBodyLimit(limit as never)).to.throw(
        ConfigError,
        `bodyLimit is ${shown}; use a number of bytes from 1, or a text such as '100kb'.`,
      );
    });
  }
});
