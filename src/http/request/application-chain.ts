/** An application and those that it is mounted in. */
import type { Application } from 'express';

/** From the application itself to the outermost one. */
export function* applicationChain(app: Application): Generator<Application> {
  for (let each: Application | undefined = app; each; each = (each as { parent?: Application }).parent) {
    yield each;
  }
}
