import { execFile } from 'node:child_process';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { headerName, setKnownHeader } from '../../../src/request/node-internals.js';

const TAG = headerName('ETag');

const make = () => new ServerResponse(new IncomingMessage(new Socket()));

describe('a known header', () => {
  it('can be asked for, set once more and taken away', () => {
    const response = make();
    response.setHeader('X-Other', 'one');
    setKnownHeader(response, TAG, '"1"');
    setKnownHeader(response, TAG, '"2"');
    expect(response.getHeaders()).to.deep.equal({ 'x-other': 'one', etag: '"2"' });
    expect(response.getHeaderNames()).to.deep.equal(['x-other', 'etag']);
    response.removeHeader('etag');
    expect(response.hasHeader('ETag')).to.equal(false);
  });

  it("is given to a middleware's own setHeader", () => {
    const response = make();
    response.setHeader('X-Other', 'one');
    const seen: unknown[] = [];
    response.setHeader = (name, value) => {
      seen.push([name, value]);
      return response;
    };
    setKnownHeader(response, TAG, '"1"');
    expect(seen).to.deep.equal([['ETag', '"1"']]);
    expect(response.hasHeader('ETag')).to.equal(false);
  });

  it('is refused behind the head of an answer, as any other', () => {
    const response = make();
    response.setHeader('X-Other', 'one');
    response.writeHead(200);
    expect(() => setKnownHeader(response, TAG, '"1"'))
      .to.throw()
      .that.has.property('code', 'ERR_HTTP_HEADERS_SENT');
  });
});

describe('an answer after many clients have come and left at once', () => {
  it('is no work for full collections', async () => {
    const program = join(__dirname, 'clients-leave-program.js');
    // In the smallest young generation V8 decides at once.
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      '--max-semi-space-size=1',
      program,
    ]);
    // 1,600 of each request, where V8 has decided for the old generation.
    expect(Number(stdout)).to.be.below(500);
  });
});
