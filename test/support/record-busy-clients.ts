/** Records queries that pg has to keep, because their connection has one already. Not for child processes: tracers load pg after them. */
import { Client } from 'pg';

/** The part of a client of pg that has one query at a time. */
interface TurnsClient {
  readonly turns?: object | null;
  readonly pipeline?: boolean;
  readonly _queryQueue?: readonly object[];
  _getActiveQuery?(): object | null;
  _pulseQueryQueue?(): void;
}

/** Records the stack of each query that pg has to keep for a connection of the library: the next major version will not. */
export function recordBusyClients(record: (stack: string) => void): void {
  const prototype = Client.prototype as TurnsClient;
  const { _pulseQueryQueue: pulse } = prototype;
  if (!pulse) return;
  prototype._pulseQueryQueue = function (this: TurnsClient) {
    const isBusy = this.turns && !this.pipeline && this._getActiveQuery?.() && this._queryQueue?.length;
    if (isBusy) record(String(new Error('a query of pg').stack));
    pulse.call(this);
  };
}
