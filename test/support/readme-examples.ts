/** The examples of the README and of the guide, as data: programs, and commands with their output. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './package-root.js';

/** A command of a console block, and its output. */
export interface ConsoleExample {
  readonly command: string;
  readonly output: string;
}

/** A code block of a page. */
export interface CodeBlock {
  /** The HTML comment before it, which names the way of its test; empty without one. */
  readonly comment: string;
  readonly language: string;
  readonly code: string;
}

/** The README and the pages of the guide, by their paths from the root; the README first. */
export function guidePages(): readonly string[] {
  const pages = readdirSync(join(PACKAGE_ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...pages.sort().map((name) => `docs/${name}`)];
}

/** The code blocks of a page, in their order. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
  const blocks = text.matchAll(/(?:^<!-- ((?:(?!-->)[\s\S])*?)\s*-->\n\n)?^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, comment = '', language = '', code = '']) => ({ comment, language, code }));
}

/** The code of the blocks that follow a comment in the README, or on another page. */
export function readmeBlocks(comment: string, page = 'README.md'): readonly string[] {
  return codeBlocks(page)
    .filter((block) => block.comment === comment)
    .map(({ code }) => code);
}

/** The commands of a console block. */
export function consoleExamples(block: string): readonly ConsoleExample[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((example) => {
      const [command = '', ...output] = example.split('\n');
      return { command, output: output.join('\n').trim() };
    });
}

/** The headers that `-i` prints here; curl prints all of them. */
const SHOWN = (
  'ETag Location Retry-After Preference-Applied Idempotent-Replayed WWW-Authenticate ' +
  'Access-Control-Allow-Origin'
).split(' ');

/** The cookies of `-c` and `-b`, by their file, which is not written. */
const jars = new Map<string, string>();

/** Sends the request that a `curl` command would, to this server instead. */
export async function runCurl(command: string, base: string): Promise<string> {
  const [program, ...words] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  if (program !== 'curl') throw new Error(`Only curl can be run here: ${command}`);
  // Otherwise `fetch` adds headers that prevent a 304.
  const headers = new Headers({ 'Cache-Control': 'max-age=0' });
  let [method, url, jar]: (string | undefined)[] = [];
  let body: string | FormData | undefined;
  let isWithHead = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-i') isWithHead = true;
    else if (word === '-X') method = words.shift();
    else if (word === '-d') body = words.shift();
    else if (word === '-F') body = formOf(words.shift());
    else if (word === '-c') jar = words.shift();
    else if (word === '-b') headers.set('Cookie', jars.get(words.shift() ?? '') ?? '');
    else if (word === '-H') {
      const [name = '', value = ''] = (words.shift() ?? '').split(/:\s*(.*)/);
      headers.append(name, value);
    } else url = word;
  }
  const target = (url ?? '').replace('localhost:3000', base.replace('http://', ''));
  const response = await fetch(`http://${target}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body === undefined ? {} : { body }),
  });
  if (jar) jars.set(jar, response.headers.getSetCookie().join('; '));
  const text = await response.text();
  return isWithHead ? `${headOf(response)}\n\n${text}`.trim() : text;
}

/** `file=hello;filename=a.txt` is a file that holds `hello`. */
function formOf(text = ''): FormData {
  const [, name = '', content = '', file = ''] = /^(\w+)=([^;]*);filename=(.*)$/.exec(text) ?? [];
  const form = new FormData();
  form.append(name, new Blob([content]), file);
  return form;
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = SHOWN.filter((name) => headers.has(name)).map((name) => `${name}: ${headers.get(name)}`);
  return [`HTTP/1.1 ${status} ${statusText}`, ...lines].join('\n');
}

/** True where an answer is the one in the README, in which `…` is any text. */
export function answersAsWritten(answer: string, written: string): boolean {
  const pattern = written.split('…').map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('[^"]*')}$`).test(answer.trimEnd());
}
