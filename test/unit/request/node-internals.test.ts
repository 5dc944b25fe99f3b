import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
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
