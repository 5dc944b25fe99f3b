/** A reader of a stream, which a test may end at any moment: it writes each event with its place to a file, and goes on behind the last one. */
import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , url = '', file = ''] = process.argv;

/** The place of the last whole line. A line that was cut off has not been read. */
function lastPlace(): string {
  const text = readFileSync(file, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  truncateSync(file, end);
  return text.slice(0, end).trimEnd().split('\n').at(-1)?.split('\t')[0] ?? '';
}

/** One connection: it is over when the stream ends. */
function follow(place: string): Promise<void> {
  const headers = { Accept: 'text/event-stream', ...(place ? { 'Last-Event-ID': place } : {}) };
  return new Promise((resolve) => {
    const request = get(`${url}?after=start`, { headers, agent: false }, (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = `${rest}${text}`.split('\n\n');
        rest = blocks.pop() ?? '';
        const lines = blocks.flatMap((block) => {
          const [, id] = /^id: (.*)$/m.exec(block) ?? [];
          const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
          return id === undefined ? [] : `${id}\t${data}\n`;
        });
        appendFileSync(file, lines.join(''));
      });
      response.on('close', resolve).on('error', () => {});
    });
    request.on('error', () => resolve());
  });
}

async function main(): Promise<void> {
  process.stdout.write('reads\n');
  for (;;) {
    await follow(lastPlace());
    await sleep(20);
  }
}

void main();
