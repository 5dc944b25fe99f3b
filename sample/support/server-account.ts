/** The account that servers run under: PostgreSQL and PgBouncer refuse to run as root, which is what a container usually is. */
import { execFileSync } from 'node:child_process';
import { chown } from 'node:fs/promises';

/** Options of `spawn`. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

let account: ServerAccount | undefined;

/** The account `nobody` for root; undefined where it is the caller's own. */
export function serverAccount(): ServerAccount | undefined {
  if (process.getuid?.() === 0) account ??= { uid: accountNumber('-u'), gid: accountNumber('-g') };
  return account;
}

/** Makes the account the owner of a file or folder. */
export async function giveToServer(path: string): Promise<void> {
  const owner = serverAccount();
  if (owner) await chown(path, owner.uid, owner.gid);
}

function accountNumber(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
}
