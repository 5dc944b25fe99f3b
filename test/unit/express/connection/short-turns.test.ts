/** Clients that come together, and those that are served already. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { admit, rest } from '../../../../src/express/connection/open-connection.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const CLIENTS = 100;

/** A client that sends the next request as soon as it has an answer. */
function requestOnAndOn(port: number, answered: () => void): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
  return socket
    .on('error', () => {})
    .on('data', () => {
      answered();
      socket.write(REQUEST);
    });
}

describe('turns of the event loop', () => {
  let server: Server;
  const sockets: Socket[] = [];

  async function listen(listener: RequestListener): Promise<number> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  it('serve new clients before each of the present ones has had many more answers', async () => {
    const port = await listen((_request, response) => admit(response, () => response.end('ok')));
    let answers = 0;
    const join = (): Promise<void> =>
      new Promise((resolve) => {
        sockets.push(
          requestOnAndOn(port, () => {
            answers += 1;
            resolve();
          }),
        );
      });
    await Promise.all(Array.from({ length: CLIENTS }, join));
    answers = 0;
    await Promise.all(Array.from({ length: CLIENTS }, join));
    // One in each turn: they waited until each of the present ones had a hundred answers.
    expect(answers).to.be.below(30 * CLIENTS);
  });

  it('execute the requests of many clients in the order and the context in which they came', async () => {
    const context = new AsyncLocalStorage<number>();
    const [arrived, executed]: number[][] = [[], []];
    const port = await listen((_request, response) => {
      const number = arrived?.push(arrived.length) ?? 0;
      context.run(number, () =>
        admit(response, () => {
          executed?.push(context.getStore() ?? 0);
          setTimeout(() => response.end('ok'), 20);
        }),
      );
    });
    await Promise.all(
      Array.from({ length: 3 * CLIENTS }, async () => {
        const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
        sockets.push(socket);
        await once(socket, 'data');
      }),
    );
    expect(executed).to.deep.equal(Array.from({ length: 3 * CLIENTS }, (_, index) => index + 1));
  });

  it('execute a request at once beside many that rest, and not beside many that do not', async () => {
    const open = new Set<ServerResponse>();
    const port = await listen((request, response) => {
      let isNow = true;
      admit(response, () => {
        if (request.url === '/probe') {
          response.end(isNow ? 'now' : 'later');
          return;
        }
        open.add(response.on('close', () => open.delete(response)));
        // Twice is as once.
        for (let time = 0; request.url === '/rest' && time < 2; time += 1) rest(response);
      });
      isNow = false;
    });
    const probe = connect(port, '127.0.0.1');
    sockets.push(probe);
    const isNow = async (): Promise<boolean> => {
      probe.write(REQUEST.replace('/', '/probe'));
      return String(await once(probe, 'data')).endsWith('now');
    };
    // The first request of a connection has others expected.
    await isNow();
    // Both counts are as before when all have left.
    for (let round = 0; round < 2; round += 1) {
      const clients: Socket[] = [];
      for (const path of ['/rest', '/work']) {
        for (let count = 0; count < CLIENTS; count += 1) {
          const client = connect(port, '127.0.0.1').on('error', () => {});
          client.write(REQUEST.replace('/', path));
          clients.push(client);
        }
        while (open.size < clients.length) await sleep(5);
        // No new connection is expected any more.
        await sleep(50);
        expect([path, await isNow()]).to.deep.equal([path, path === '/rest']);
      }
      for (const client of clients) client.destroy();
      while (open.size > 0) await sleep(5);
    }
    expect(await isNow()).to.equal(true);
  });

  it('execute no request of a client that has left, and go on after one that throws', async () => {
    let executions = 0;
    const failures: unknown[] = [];
    const port = await listen((request, response) => {
      admit(response, () => {
        executions += 1;
        if (request.url === '/throw') throw new Error('thrown');
        response.end('ok');
      });
      if (request.url === '/leave') request.socket.destroy();
    });
    const others = process.listeners('uncaughtException');
    process
      .removeAllListeners('uncaughtException')
      .once('uncaughtException', (error) => failures.push(error));
    try {
      const send = (path: string): Socket => {
        const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST.replace('/', path)));
        sockets.push(socket.on('error', () => {}));
        return socket;
      };
      send('/leave');
      send('/throw');
      await Promise.all(Array.from({ length: CLIENTS }, () => once(send('/'), 'data')));
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const each of others) process.on('uncaughtException', each);
    }
    expect(failures.map(String)).to.deep.equal(['Error: thrown']);
    expect(executions).to.equal(CLIENTS + 1);
  });
});
