/** A fresh database behind a proxy. */
import type { Client } from 'pg';
import { connectTo, freshDatabase } from './postgres.js';
import { TcpProxy } from './tcp-proxy.js';

/** A database behind a proxy, until it is disposed. */
export interface ProxiedDatabase extends AsyncDisposable {
  /** By way of the proxy. */
  readonly url: string;
  /** Past the proxy. */
  readonly direct: string;
  readonly proxy: TcpProxy;
  /** A connection past the proxy. */
  readonly control: Client;
}

/** Makes one. */
export async function proxiedDatabase(label: string): Promise<ProxiedDatabase> {
  const database = await freshDatabase(label);
  const proxy = await TcpProxy.before(database.url);
  const control = await connectTo(database.url);
  return {
    url: proxy.href,
    direct: database.url,
    proxy,
    control,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await control.end();
      await database.drop();
    },
  };
}
