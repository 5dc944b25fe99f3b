/** A reader of a stream, which a test may end at any moment: it writes each event with its place to a file, and goes on behind the last one. */
import { once } from 'node:events';
import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , url = '', file = ''] = process.argv;

/** The place of the last whole line. A line that was cut off has not been read. */
function lastPlace(): string {
  const text = readFileSync(file, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  truncateSync(file, end);
  return text.slice(0, end).trimEnd().split('\n').at(-1)?.split('\t')[0] ?? '';
}

/** One connection, until the stream ends. Each event takes a moment, so that some are cut off between two of a tick. */
async function follow(place: string): Promise<void> {
  const headers = { Accept: 'text/event-stream', ...(place ? { 'Last-Event-ID': place } : {}) };
  const request = get(`${url}?after=start`, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let rest = '';
  for await (const text of response.setEncoding('utf8')) {
    const blocks = `${rest}${text}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
      if (id === undefined) continue;
      appendFileSync(file, `${id}\t${data}\n`);
      await sleep(1);
    }
  }
}

async function main(): Promise<void> {
  for (;;) {
    await follow(lastPlace()).catch(() => {});
    await sleep(20);
  }
}

void main();
