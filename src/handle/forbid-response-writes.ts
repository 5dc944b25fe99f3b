/** Answers about many records are given as a whole, not by code of the user's that sees one record. */
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

function refuse(): never {
  throw new TypeError(
    'A method that runs for each of many records cannot answer by itself; return the record.',
  );
}
