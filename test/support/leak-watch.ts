/** Looks at every answer that a test gets: whatever failed, none shows statements, frames, files or errors of others. */
import type supertest from 'supertest';

type Agent = ReturnType<typeof supertest>;
type Verb = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options' | 'trace';

const VERBS: readonly Verb[] = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace'];

const LEAK =
  /\b(?:SELECT|INSERT INTO|DELETE FROM|RETURNING|violates|relation "|Sequelize\w*Error|node_modules)\b|UPDATE "|\\n +at |"(?:sql|parameters|stack|parent|original)":/;

const leaks: string[] = [];

/** The agent itself, which now remembers what should not have left. */
export function watchForLeaks(agent: Agent): Agent {
  for (const verb of VERBS) {
    const send = agent[verb];
    agent[verb] = (url) =>
      send(url).use((request) => {
        request.on('response', ({ status, text }: { status: number; text?: string }) => {
          const [found] = LEAK.exec(status >= 400 ? (text ?? '') : '') ?? [];
          // What a query string said itself is quoted in the answer to it.
          if (found !== undefined && !saidBy(url, found)) leaks.push(`${verb} ${url}: ${text}`);
        });
      });
  }
  return agent;
}

function saidBy(url: string, text: string): boolean {
  const query = url.slice(url.indexOf('?') + 1).replaceAll('+', ' ');
  return query
    .replace(/(?:%[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
    .includes(text);
}

/** Fails where an answer since the last call has shown too much. */
export function throwLeak(): void {
  const [leak] = leaks.splice(0);
  if (leak !== undefined) throw new Error(`An answer shows what is nobody's business: ${leak}`);
}
