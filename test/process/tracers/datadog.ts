/** Loaded before the application: has dd-trace trace it, and sends the finished traces to the parent process. */
import tracer from 'dd-trace';
import type { TracedSpan } from './traced-span.js';

/** A span as dd-trace writes it. */
interface Span {
  readonly span_id: { toString(): string };
  readonly parent_id: { toString(): string };
  readonly name: string;
  readonly resource: string;
  readonly error: number;
  readonly meta: Readonly<Record<string, string>>;
}

const spans: TracedSpan[] = [];

// Its exporter for processes without an agent prints each trace when all of its spans have ended.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (chunk: string | Uint8Array, ...rest: never[]): boolean => {
  if (!String(chunk).startsWith('{"traces":')) return write(chunk, ...rest);
  const { traces } = JSON.parse(String(chunk)) as { traces: Span[][] };
  spans.push(...traces.flat().map(describe));
  return true;
};

tracer.init({ startupLogs: false, dbmPropagationMode: 'full' });

function describe({ span_id: id, parent_id: parent, name, resource, error, meta }: Span): TracedSpan {
  return {
    id: id.toString(),
    parent: parent.toString(),
    name,
    text: name === 'pg.query' ? resource : '',
    values: null,
    isError: error !== 0,
    request: meta['case'] ?? null,
  };
}

process.on('message', () => process.send?.(spans.splice(0)));
