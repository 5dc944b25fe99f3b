/** Messages of PostgreSQL, however the network cuts them up: nothing is lost, and everything stays in order. */
import { expect } from 'chai';
import { BackendMessageParser } from '../../../../src/postgres/protocol/wire-messages.js';
import { wholeOr } from '../../../support/short.js';

type Row = readonly (string | null)[];

function message(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function row(fields: Row): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(fields.length);
  const values = fields.map((field) => {
    const bytes = Buffer.from(field ?? '');
    const length = Buffer.alloc(4);
    length.writeInt32BE(field === null ? -1 : bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return message('D', count, ...values);
}

const tag = (text: string): Buffer => message('C', Buffer.from(`${text}\0`));
const PARSED = message('1');
const BOUND = message('2');
const CLOSED = message('3');
const DESCRIBED = message('T', Buffer.alloc(30, 'T'));
const NOTICE = message('N', Buffer.alloc(400, 'D'));
const FAILED = message('E', Buffer.from('SERROR\0\0'));
const READY = message('Z', Buffer.from('I'));

const ROWS: readonly Row[] = [
  ['1', '', null, 'plain'],
  ['2', 'naïve café', '\u{1f600}', '日本語'],
  ['3', 'x'.repeat(127), 'y'.repeat(128), 'z'.repeat(255)],
  ['4', 'ü'.repeat(64), 'a'.repeat(128), 'ß'],
  ['5', 'w'.repeat(33_000), 'é', null],
  ['6', `${'v'.repeat(300)}ÿ`, '\u0080\u00ff', 'tail'],
  [],
  [null, null],
];

/** Calls of the parser, in order: rows, tags, and the types of messages that were left to the driver. */
type Told = readonly [string, unknown][];

/** A driver as far as its reader goes, and queries that take their answers or leave them to it, one after the other. */
class Scene {
  readonly told: [string, unknown][] = [];
  /** Number of rows that the driver had to read. */
  rowsLeft = 0;
  readonly #takes: boolean[];
  #left = Buffer.alloc(0);
  readonly reader: BackendMessageParser;

  constructor(takes: readonly boolean[]) {
    this.#takes = [...takes];
    const taker = {
      handleDataRow: ({ fields }: { fields: Row }) => this.told.push(['row', [...fields]]),
      handleCommandComplete: ({ text }: { text: string }) => this.told.push(['tag', text]),
    };
    this.reader = new BackendMessageParser(
      () => (this.#takes[0] ? taker : null),
      (bytes) => this.#drive(bytes),
    );
  }

  get isComplete(): boolean {
    return this.#left.length === 0;
  }

  #drive(bytes: Buffer): void {
    this.#left = Buffer.concat([this.#left, bytes]);
    while (this.#left.length >= 5 && this.#left.length > this.#left.readUInt32BE(1)) {
      const end = 1 + this.#left.readUInt32BE(1);
      this.#told(this.#left.subarray(0, end));
      this.#left = this.#left.subarray(end);
    }
  }

  #told(whole: Buffer): void {
    const type = whole.toString('latin1', 0, 1);
    if (type === 'D') {
      this.rowsLeft += 1;
      this.told.push(['row', fieldsOf(whole)]);
    } else if (type === 'C') this.told.push(['tag', whole.toString('latin1', 5, whole.length - 1)]);
    else if (type !== '2') this.told.push([type, whole.length]);
    if (type === 'Z') this.#takes.shift();
  }
}

function fieldsOf(whole: Buffer): Row {
  const fields: (string | null)[] = [];
  let at = 7;
  for (let index = 0; index < whole.readUInt16BE(5); index += 1) {
    const length = whole.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : whole.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  return fields;
}

const STREAM = Buffer.concat([
  ...[PARSED, BOUND, DESCRIBED, ...ROWS.map(row), tag('SELECT 8'), READY],
  ...[BOUND, row(['7', 'of another']), row(['8', 'ö']), tag('SELECT 2'), READY],
  ...[BOUND, row(['9', 'é']), tag('SELECT 1'), NOTICE, BOUND, row(['10', 'n']), FAILED, READY],
  ...[BOUND, tag('UPDATE 0'), READY],
]);

const EXPECTED: Told = [
  ['1', PARSED.length],
  ['T', DESCRIBED.length],
  ...ROWS.map((fields): [string, unknown] => ['row', fields]),
  ['tag', 'SELECT 8'],
  ['Z', READY.length],
  ['row', ['7', 'of another']],
  ['row', ['8', 'ö']],
  ['tag', 'SELECT 2'],
  ['Z', READY.length],
  ['row', ['9', 'é']],
  ['tag', 'SELECT 1'],
  ['N', NOTICE.length],
  ['row', ['10', 'n']],
  ['E', FAILED.length],
  ['Z', READY.length],
  ['tag', 'UPDATE 0'],
  ['Z', READY.length],
];

function tell(takes: readonly boolean[], chunks: Iterable<Buffer>): Scene {
  const scene = new Scene(takes);
  for (const chunk of chunks) scene.reader.read(chunk);
  return scene;
}

function* cut(bytes: Buffer, size: number, first = size): Generator<Buffer> {
  yield bytes.subarray(0, first);
  for (let at = first; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const TAKES = {
  'all queries': [true, true, true, true],
  'some queries': [true, false, true, false],
  'the other queries': [false, true, false, true],
  'no query': [false, false, false, false],
};

describe('answers of PostgreSQL', () => {
  for (const [whose, takes] of Object.entries(TAKES)) {
    it(`to ${whose} are told in order, whole or in pieces of any size`, () => {
      for (const size of [STREAM.length, 65_536, 97, 5, 1, ...wholeOr([], [4_096, 1_000, 13, 7, 3])]) {
        // The first piece shows the beginnings of messages.
        const scene = tell(takes, cut(STREAM, size, Math.max(size, PARSED.length)));
        expect(scene.told, `pieces of ${size}`).to.deep.equal(EXPECTED);
        expect(scene.isComplete).to.equal(true);
      }
    });
  }

  it('are left to the driver for the queries of others, and where they have not arrived whole', () => {
    expect(tell(TAKES['all queries'], [STREAM]).rowsLeft).to.equal(0);
    expect(tell(TAKES['some queries'], [STREAM]).rowsLeft).to.equal(2);
    expect(tell(TAKES['no query'], [STREAM]).rowsLeft).to.equal(ROWS.length + 4);
    // One is longer than a piece, and several are cut.
    expect(tell(TAKES['all queries'], cut(STREAM, 16_384)).rowsLeft).to.equal(1);
  });

  it('are told in order wherever they are cut in two', () => {
    const short = Buffer.concat([
      PARSED,
      BOUND,
      row(['1', 'é', null]),
      row(['2', 'b', '']),
      tag('SELECT 2'),
      READY,
    ]);
    const whole = tell([true], [short]).told;
    for (let at = PARSED.length; at < short.length; at += 1) {
      expect(tell([true], [short.subarray(0, at), short.subarray(at)]).told, `at ${at}`).to.deep.equal(whole);
    }
  });

  it('are told from the first query on, also where it closes a name before it prepares it', () => {
    const scene = tell([true], [Buffer.concat([CLOSED, PARSED, BOUND, row(['1']), tag('SELECT 1'), READY])]);
    expect(scene.told.map(([what]) => what)).to.deep.equal(['3', '1', 'row', 'tag', 'Z']);
    expect(scene.rowsLeft).to.equal(0);
  });

  it('are left to the driver where something else came first, of which the beginning may be missing', () => {
    const scene = tell([true], [Buffer.concat([READY, PARSED, BOUND, row(['1']), tag('SELECT 1'), READY])]);
    expect(scene.told.map(([what]) => what)).to.deep.equal(['Z', '1', 'row', 'tag', 'Z']);
    const rest = tell([true], [NOTICE.subarray(100), Buffer.concat([PARSED, BOUND, row(['1'])])]);
    expect(rest.told.filter(([what]) => what === 'row')).to.deep.equal([]);
  });
});
