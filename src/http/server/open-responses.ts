/** The responses that a server has not finished. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const POSITION = Symbol('position');
const NUMBER = Symbol('number');

interface ListedResponse extends ServerResponse {
  [POSITION]?: number;
  [NUMBER]?: number;
}

/**
 * A bag of responses. Not a Set: a large one is made anew now and then, and the tables it leaves behind keep responses that
 * are long over, and all that hangs on them, from the young generation of the garbage collector, which cost as much as
 * the rest of an answer.
 */
export class OpenResponses implements Iterable<ServerResponse> {
  readonly #responses: ListedResponse[] = [];
  #added = 0;

  add(response: ListedResponse): void {
    response[POSITION] = this.#responses.push(response) - 1;
    response[NUMBER] = this.#added;
    this.#added += 1;
  }

  /** The last one takes the place of the one that goes. */
  delete(response: ListedResponse): void {
    const position = response[POSITION];
    if (position === undefined || this.#responses[position] !== response) return;
    const last = this.#responses.pop();
    if (last === undefined || last === response) return;
    this.#responses[position] = last;
    last[POSITION] = position;
  }

  /** Of each connection the response to the request that was read last. */
  lastOfEach(): ReadonlyMap<Socket, ServerResponse> {
    const last = new Map<Socket, ListedResponse>();
    for (const response of this.#responses) {
      const { socket } = response.req;
      const known = last.get(socket);
      if (!known || numberOf(known) < numberOf(response)) last.set(socket, response);
    }
    return last;
  }

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#responses.values();
  }
}

function numberOf(response: ListedResponse): number {
  return response[NUMBER] ?? 0;
}
