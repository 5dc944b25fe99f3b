/** The responses that a server has not finished. */
import type { ServerResponse } from 'node:http';

const POSITION = Symbol('position');

interface ListedResponse extends ServerResponse {
  [POSITION]?: number;
}

/**
 * A bag of responses. Not a Set: a large one is made anew now and then, and the tables it leaves behind keep responses that
 * are long over, and all that hangs on them, from the young generation of the garbage collector, which cost as much as
 * the rest of an answer.
 */
export class OpenResponses implements Iterable<ServerResponse> {
  readonly #responses: ListedResponse[] = [];

  add(response: ListedResponse): void {
    response[POSITION] = this.#responses.push(response) - 1;
  }

  /** The last one takes the place of the one that goes. */
  delete(response: ListedResponse): void {
    const position = response[POSITION];
    const last = this.#responses.pop();
    if (position === undefined || last === undefined || last === response) return;
    this.#responses[position] = last;
    last[POSITION] = position;
  }

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#responses.values();
  }
}
