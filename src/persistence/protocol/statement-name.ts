/** Names of prepared statements: one text has one name, and a name never means another text. */
import { createHash, randomUUID } from 'node:crypto';

/** Behind a pooler, processes meet each other's statements on the connections to the server. */
const PROCESS = randomUUID();
/** Of six bits each. */
const DIGITS = 22;

/** The name for a text in this process: ASCII, and far shorter than the 63 bytes that PostgreSQL keeps of a name. */
export function statementName(text: string): string {
  const digest = createHash('sha256').update(PROCESS).update(text).digest('base64url');
  return `crud_${digest.slice(0, DIGITS)}`;
}
