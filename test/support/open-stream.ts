/** Server-Sent Events, as a client reads them. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Sends a request for a stream, and reads nothing of its body. */
export async function requestStream(url: string, headers = {}, method = 'GET'): Promise<IncomingMessage> {
  const sent = get(url, { headers: { Accept: 'text/event-stream', ...headers }, agent: false, method });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // It may be destroyed, by either side.
  sent.on('error', () => {});
  return response;
}

/** A stream that is read, each line once: tests have a thousand of them, and some of a hundred thousand events. */
export class OpenStream {
  text = '';
  isEnded = false;
  readonly events: { resource: string; op: string; id?: string }[] = [];
  readonly ids: string[] = [];
  #line = '';

  constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.resume();
    response.on('data', (text: string) => this.#read(text));
    response.on('close', () => {
      this.isEnded = true;
    });
    response.on('error', () => {});
  }

  #read(text: string): void {
    this.text += text;
    const lines = `${this.#line}${text}`.split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) this.ids.push(line.slice('id: '.length));
      else if (line.startsWith('data: ')) this.events.push(JSON.parse(line.slice('data: '.length)));
    }
  }

  async until(test: (stream: OpenStream) => boolean, milliseconds = 5_000): Promise<this> {
    const end = performance.now() + milliseconds;
    while (!test(this)) {
      if (performance.now() > end) throw new Error(`It did not come: ${this.text.slice(-2_000)}`);
      await delay(10);
    }
    return this;
  }
}
