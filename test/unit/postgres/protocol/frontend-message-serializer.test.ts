import { expect } from 'chai';
import fc from 'fast-check';
import { serialize } from 'pg-protocol';
import { serializeExecutions } from '../../../../src/postgres/protocol/wire-messages.js';

/** The same messages by pg's own encoder, which marks each parameter and the results as text. */
function byDriver(statement: string, all: readonly (readonly (string | null)[])[]): Buffer {
  const executions = all.flatMap((values) => [
    serialize.bind({ statement, values: [...values] }),
    serialize.execute(),
  ]);
  return Buffer.concat([...executions, serialize.sync()]);
}

/** Expects the messages of our serializer to be those of pg. */
function expectSame(name: string, all: readonly (readonly (string | null)[])[]): void {
  const ours = serializeExecutions(
    name,
    all.map((values) => ({ values })),
    [],
  );
  expect(read(ours)).to.deep.equal(read(byDriver(name, all)));
}

/** Reads numbers and texts off a buffer, one behind the other. */
class Reader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  take(length: number): Buffer {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  int16(): number {
    return this.take(2).readInt16BE();
  }

  int32(): number {
    return this.take(4).readInt32BE();
  }

  /** A text that ends with a zero. */
  text(): string {
    const text = this.take(this.bytes.indexOf(0, this.at) - this.at).toString();
    this.take(1);
    return text;
  }

  /** The formats that are not text. */
  binary(): number[] {
    return Array.from({ length: this.int16() }, () => this.int16()).filter((format) => format !== 0);
  }

  value(): string | null {
    const length = this.int32();
    return length < 0 ? null : this.take(length).toString('hex');
  }
}

/** The content of messages (53.7 of PostgreSQL's manual): types, lengths, texts, and formats that are not text. */
function read(bytes: Buffer): unknown[] {
  const reader = new Reader(bytes);
  const said: unknown[] = [];
  while (reader.at < bytes.length) {
    const type = reader.take(1).toString();
    const end = reader.at + reader.int32();
    if (type === 'B') {
      said.push({ portal: reader.text(), name: reader.text(), binary: reader.binary() });
      said.push(Array.from({ length: reader.int16() }, () => reader.value()));
      said.push({ binary: reader.binary() });
    } else {
      said.push(type, reader.take(end - reader.at).toString('hex'));
    }
    expect(reader.at).to.equal(end);
  }
  return said;
}

describe('serializeExecutions', () => {
  it('says what pg would', () => {
    const value = fc.option(fc.string({ unit: 'binary', maxLength: 60 }));
    const executions = fc.array(fc.array(value, { maxLength: 12 }), { minLength: 1, maxLength: 4 });
    fc.assert(fc.property(fc.stringMatching(/^crud_\d{1,3}$/), executions, expectSame));
  });

  it('says it of large values, none, and half a surrogate pair', () =>
    expectSame('crud_0', [[], ['x'.repeat(70_000), null, '🙂'.repeat(20_000)], ['\ud800'], ['']]));

  it('puts other statements before them', () => {
    const before = [
      { statement: { name: 'crud_first', text: '' }, values: [] },
      { statement: { name: 'crud_second', text: '' }, values: ['app.tenant', 'é'] },
    ];
    const ours = serializeExecutions('crud_7', [{ values: ['1'] }, { values: ['2'] }], before);
    const withoutSync = (bytes: Buffer) => bytes.subarray(0, -serialize.sync().length);
    const first = withoutSync(byDriver('crud_first', [[]]));
    const second = withoutSync(byDriver('crud_second', [['app.tenant', 'é']]));
    const expected = Buffer.concat([first, second, byDriver('crud_7', [['1'], ['2']])]);
    expect(read(ours)).to.deep.equal(read(expected));
  });

  it('parses those without a name', () => {
    const text = "SELECT 'é🙂'";
    const ours = serializeExecutions(
      'crud_7',
      [{ values: ['1'] }],
      [{ statement: { name: '', text }, values: [] }],
    );
    const parsed = serialize.parse({ text, name: '', types: [] });
    expect(ours.subarray(0, parsed.length).equals(parsed)).to.equal(true);
    const first = byDriver('', [[]]).subarray(0, -serialize.sync().length);
    const expected = Buffer.concat([first, byDriver('crud_7', [['1']])]);
    expect(read(ours.subarray(parsed.length))).to.deep.equal(read(expected));
  });
});
