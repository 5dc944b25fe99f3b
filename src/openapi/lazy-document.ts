/** The document of an application, made when it is first asked for. */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { OpenAPIObject } from './openapi-object.js';

/** Milliseconds for which the making of a document may keep other requests waiting. */
const SLICE = 10;

/** A document that is made once. */
export interface LazyDocument {
  /** Makes it at once, unless it is there. */
  now(): OpenAPIObject;
  /** Makes it in slices, between which other requests are answered: it takes a second for hundreds of models. */
  soon(): Promise<OpenAPIObject>;
}

/** @param write makes the document in steps */
export function lazyDocument(write: () => Generator<void, OpenAPIObject>): LazyDocument {
  let made: OpenAPIObject | undefined;
  let making: Promise<OpenAPIObject> | undefined;
  const keep = (document: OpenAPIObject): OpenAPIObject => {
    made ??= document;
    return made;
  };
  return {
    now: () => made ?? keep(whole(write())),
    soon: () => {
      making ??= inSlices(write()).then(keep);
      return made ? Promise.resolve(made) : making;
    },
  };
}

function whole(steps: Generator<void, OpenAPIObject>): OpenAPIObject {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function inSlices(steps: Generator<void, OpenAPIObject>): Promise<OpenAPIObject> {
  let start = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (!done && performance.now() - start < SLICE) continue;
    await otherWork();
    if (done) return value;
    start = performance.now();
  }
}
