import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { requestId, sendRequestId } from '../../../src/request/standard-headers.js';

function sending(id?: string): { readonly request: IncomingMessage; readonly response: ServerResponse } {
  const request = new IncomingMessage(new Socket());
  if (id !== undefined) request.headers['x-request-id'] = id;
  return { request, response: new ServerResponse(request) };
}

describe('the id of a request', () => {
  for (const id of ['a', 'A-b_c.9', 'x'.repeat(64)]) {
    it(`is ${id}, which was sent`, () => {
      const { request, response } = sending(id);
      expect(requestId(request)).to.equal(id);
      sendRequestId(request, response);
      expect(response.getHeader('x-request-id')).to.equal(id);
    });
  }

  for (const id of [undefined, '', 'x'.repeat(65), 'a b', 'a,b', 'a\n', '\na', 'é', '<a>']) {
    it(`is made where ${JSON.stringify(id)} was sent, and stays`, () => {
      const { request, response } = sending(id);
      const made = requestId(request);
      expect(made).to.match(/^[\w-]{12}-[0-9a-z]+$/);
      expect(requestId(request)).to.equal(made);
      sendRequestId(request, response);
      expect(response.getHeader('x-request-id')).to.equal(made);
      expect(requestId(sending().request)).not.to.equal(made);
    });
  }

  it('is the one that a middleware has answered with, where that is valid', () => {
    const { request, response } = sending('a');
    response.setHeader('X-Request-Id', 'own');
    sendRequestId(request, response);
    expect(requestId(request)).to.equal('own');
    response.setHeader('X-Request-Id', 'later');
    sendRequestId(request, response);
    expect([requestId(request), response.getHeader('x-request-id')]).to.deep.equal(['own', 'later']);
    const other = sending('a');
    other.response.setHeader('X-Request-Id', 'not valid');
    sendRequestId(other.request, other.response);
    expect([requestId(other.request), other.response.getHeader('x-request-id')]).to.deep.equal(['a', 'a']);
  });

  it('is answered with although it was asked for before', () => {
    const { request, response } = sending();
    const id = requestId(request);
    sendRequestId(request, response);
    expect(response.getHeader('x-request-id')).to.equal(id);
  });
});
