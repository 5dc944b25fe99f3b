/** What answers about many records must not have: one that code of the user's gives by itself, and a tag. */
import type { Response } from 'express';

const METHODS = ['end', 'write', 'writeHead'] as const;

/** Runs work that must not answer: what it would send would go out before the transaction has ended. */
export async function withoutAnswer<T>(response: Response, work: () => Promise<T>): Promise<T> {
  const before = METHODS.map((name) => [name, Object.getOwnPropertyDescriptor(response, name)] as const);
  for (const name of METHODS) {
    Object.defineProperty(response, name, { value: refuse, configurable: true, writable: true });
  }
  try {
    return await work();
  } finally {
    for (const [name, own] of before) {
      if (own) Object.defineProperty(response, name, own);
      else Reflect.deleteProperty(response, name);
    }
  }
}

/** Keeps Express from making a tag of the bytes: what is answered is the state of no resource. */
export function leaveTagOut(response: Response): void {
  const { writeHead } = response;
  response.writeHead = (...args: unknown[]) => {
    response.removeHeader('ETag');
    return Reflect.apply(writeHead, response, args);
  };
}

function refuse(): never {
  throw new TypeError(
    'A method that runs for each of many records cannot answer by itself; return the record.',
  );
}
