/** Values of a million characters and more, where the limit of bodies lets them in: stored, or refused in a sentence. */
// @runs fast
import { expect } from 'chai';
import { IsEmail, IsOptional, Matches } from 'class-validator';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud()
@Table({ tableName: 'deposits', timestamps: false })
class Deposit extends NumberedManyTypes {
  @Column(DataType.TEXT) declare text: string | null;
  @Column(DataType.INET) declare address: string | null;

  @IsOptional()
  @Matches(/^[a-z]+$/, { message: '$value is wrong' })
  @IsEmail()
  @Column(DataType.TEXT)
  declare checked: string | null;
}

const MILLION = 1_000_000;
const long = (text: string, times = MILLION): string => text.repeat(times);

/** Refused values, as JSON text where JavaScript has no such value. */
const REFUSED: readonly (readonly [attribute: keyof Deposit, sent: string])[] = [
  ['whole', long('9')],
  ['whole', `"${long('9')}"`],
  ['big', `"${long('9')}"`],
  ['unlimited', `"${long('9')}"`],
  ['unlimited', `"0.${long('0')}1"`],
  ['double', long('9')],
  ['double', `"${long('9')}"`],
  ['moment', `"2026-01-31T08:00:00.${long('1')}Z"`],
  ['moment', `"${long('2026-')}"`],
  ['day', `"2026-01-31${long('1')}"`],
  ['time', `"08:00:00.${long('1')}"`],
  ['uuid', `"${long('a')}"`],
  ['colour', `"${long('red')}"`],
  ['bytes', `"${long('A', 4_500_001)}"`],
  ['bytes', `"${long('A', 4_500_000)}-_=="`],
  ['bytes', `"${long('A===', MILLION)}"`],
  ['bytes', '"AB=="'],
  ['text', `"${long('a')}\\u0000"`],
  ['short', `"${long('ab')}"`],
  ['jsonb', `"${long('a')}\\u0000"`],
  ['decimals', `[${long('"1",', 100_000)}"${long('9')}"]`],
  ['address', `"${long('1.')}"`],
  ['checked', `"${long('a.')}"`],
];

describe('[A7] sending a long value', () => {
  const logger = new CapturedLog();
  const paths = forSuite(() =>
    TwoPaths.start({ models: [Deposit], bootstrap: { logger, bodyLimit: '20mb' } }),
  );

  const send = async (verb: 'post' | 'patch', text: string, fast: boolean) => {
    const { port } = fast ? paths.fast : paths.general;
    const path = verb === 'post' ? '/deposits' : '/deposits/1';
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: verb.toUpperCase(),
      headers: { 'Content-Type': 'application/json' },
      body: text,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  beforeEach(async () => {
    logger.clear();
    await emptyTables(paths.site, 'deposits');
    await Deposit.create();
  });

  for (const [attribute, sent] of REFUSED) {
    it(`refuses ${String(attribute)} ${sent.slice(0, 24)}… of ${sent.length} characters`, async () => {
      for (const verb of ['post', 'patch'] as const) {
        const { status, body } = await send(verb, `{"${String(attribute)}":${sent}}`, verb === 'post');
        expect(status, logger.text.slice(0, 500)).to.equal(422);
        expect(JSON.stringify(body).length).to.be.below(1000);
      }
      expect(await Deposit.count()).to.equal(1);
    });
  }

  it('stores bytes of 4.5 million characters of base64', async () => {
    const bytes = long('QUJD', 1_125_000);
    for (const fast of [true, false]) {
      for (const verb of ['post', 'patch'] as const) {
        const { status, body } = await send(verb, JSON.stringify({ bytes }), fast);
        expect(status).to.equal(verb === 'post' ? 201 : 200);
        expect(body.bytes === bytes).to.equal(true);
      }
    }
  });

  it('stores a number whose million zeros say nothing', async () => {
    const sent = { moment: `2026-01-31T08:00:00.${long('0')}Z`, text: long('ä') };
    const { status, body } = await send('post', JSON.stringify(sent), true);
    expect(status).to.equal(201);
    expect(body).to.include({ moment: '2026-01-31T08:00:00.000Z', text: sent.text });
  });

  it('refuses names of a million characters, and a hundred thousand names, in few words', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `"n${index}":1`);
    for (const text of [
      `{"${long('a')}":1}`,
      `{${names.join()}}`,
      `{"jsonb":{"${long('__proto__')}":{"__proto__":1}}}`,
    ]) {
      const { status, body } = await send('post', text, true);
      expect(status).to.equal(422);
      expect(JSON.stringify(body).length).to.be.below(2 * MILLION);
    }
  });
});
