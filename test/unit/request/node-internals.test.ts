import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { headerName, setKnownHeader } from '../../../src/request/node-internals.js';
import { listen, requestHead } from '../../support/listen.js';

const LENGTH = headerName('Content-Length');
const TAG = headerName('ETag');

const make = () => new ServerResponse(new IncomingMessage(new Socket()));

/** An answer, as it is on the wire. */
async function wireOf(answer: (response: ServerResponse) => void): Promise<string> {
  await using target = await listen((_request, response) => {
    response.sendDate = false;
    answer(response);
    response.end('ab');
  });
  const client = await target.connect();
  client.end(requestHead('GET /', { Connection: 'close' }));
  return await text(client);
}

describe('a known header', () => {
  it('is on the wire as one of setHeader', async () => {
    const known = await wireOf((response) => {
      setKnownHeader(response, TAG, '"1"');
      response.setHeader('X-Other', 'one');
      setKnownHeader(response, LENGTH, 2);
    });
    const usual = await wireOf((response) => {
      response.setHeader('ETag', '"1"');
      response.setHeader('X-Other', 'one');
      response.setHeader('Content-Length', 2);
    });
    expect(known).to.equal(usual);
    expect(known).to.include('\r\nETag: "1"\r\nX-Other: one\r\nContent-Length: 2\r\n');
  });

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
