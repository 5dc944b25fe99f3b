/** Tells subscribers of operations when each begins and ends. What it does runs in the stores that they bind. */
import type { IncomingMessage } from 'node:http';
import { type OperationMessage, operationChannel } from './channels.js';

/** Of requests that subscribers are told of. */
const messages = new WeakMap<IncomingMessage, OperationMessage>();

/** Runs work of an operation. */
export type OperationScope = <T>(message: OperationMessage, work: () => T) => T;

let scope: OperationScope | null = null;

/** Has operations run within a context that is no store of Node's; null ends it. It does not subscribe. */
export function setOperationScope(next: OperationScope | null): void {
  scope = next;
}

/** Runs the work of a request. */
export function traceOperation<T>(message: OperationMessage, work: () => Promise<T>): Promise<T> {
  messages.set(message.request, message);
  const within = scope;
  const run = within ? () => within(message, work) : work;
  return operationChannel.tracePromise(run, message) as Promise<T>;
}

/** Tells what is known of a request only when it is under way. */
export function noteOperation(
  request: IncomingMessage,
  known: Partial<Pick<OperationMessage, 'operation' | 'runner'>>,
): void {
  if (!operationChannel.hasSubscribers) return;
  const message = messages.get(request);
  if (message) Object.assign(message, known);
}
