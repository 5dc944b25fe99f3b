/** Assertions about an answer as a whole: status, media type, and every key of the body [A21]. */
import { expect } from 'chai';
import type { Response } from 'supertest';

/** The answer is exactly this JSON. */
export function expectJson(response: Response, status: number, body: unknown): void {
  expect(response.body).to.deep.equal(body);
  expect(response.status).to.equal(status);
  expect(response.headers['content-type']).to.equal('application/json; charset=utf-8');
}

/** The answer is exactly this problem (RFC 9457). */
export function expectProblem(response: Response, status: number, body: unknown): void {
  expect(response.body).to.deep.equal(body);
  expect(response.status).to.equal(status);
  expect(response.headers['content-type']).to.equal('application/problem+json');
}

/** The answer is a problem about a single thing: its `detail` is the body's `detail` too. */
export function expectIssue(
  response: Response,
  status: number,
  issue: { readonly code: string; readonly detail: string } & (
    | { readonly pointer: string }
    | { readonly parameter: string }
  ),
): void {
  expectProblem(response, status, { detail: issue.detail, errors: [issue] });
}

/** Expects that the path does not have the method, and that the answer lists its methods. */
export function expectNoMethod(response: Response, method: string, allow: string): void {
  const detail = `This path does not have the method ${method}; it has ${allow}.`;
  expectProblem(response, 405, { detail });
  expect(response.headers['allow']).to.equal(allow);
}

/** The answer has no body at all, and does not speak of one. */
export function expectNothing(response: Response, status: number): void {
  expect(response.text ?? '').to.equal('');
  expect(response.status).to.equal(status);
  expect(response.headers).to.not.have.any.keys('content-type', 'transfer-encoding');
}

/** The tag of an answer, without its end that marks answers which code of the user's has shaped. */
export function tagOf({ headers }: { readonly headers: object }): string {
  return String((headers as { readonly etag?: string }).etag).replace(/\..*"$/, '"');
}
