/** What routes of the user's, and overrides, share with the driver that sends their answers. */
import type { Response } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';

/** What the answers of the user's methods go through. */
export interface ResultShaper {
  /** To be called before a method that is given the response, and may write to it. */
  guard(response: Response): void;
  /** Waits for what has to be known of a result before it is shaped. */
  ready(result: unknown, action: Action): Promise<void>;
  /** Shapes what a method has returned; throws where it cannot be sent. */
  shape(result: unknown, method: ActionMetadata, action: Action): unknown;
  /** Lets a result be sent as it is; false where an interceptor may make something else of it. */
  settle(shaped: unknown, method: ActionMetadata): boolean;
}
