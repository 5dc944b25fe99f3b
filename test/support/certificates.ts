/** Certificates of an authority of the tests, made with `openssl`. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFolder } from '../../sample/support/open-folder.js';
import { giveToServer } from '../../sample/support/server-account.js';
import { installPackage, isThere } from './install-package.js';
import { createTemporaryFolder, type TemporaryFolder } from './temporary-folder.js';

const PROGRAM = 'openssl';
const run = promisify(execFile);
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate and its key, as files that a server may read. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Signs certificates until it is removed. */
export class Authority {
  readonly #folder: TemporaryFolder;
  readonly #path: string;

  private constructor(folder: TemporaryFolder, path: string) {
    this.#folder = folder;
    this.#path = path;
  }

  static async create(): Promise<Authority> {
    if (!isThere(PROGRAM)) installPackage(PROGRAM);
    const folder = await createTemporaryFolder('certificates');
    const authority = new Authority(folder, await openFolder(folder.path));
    const args = '-keyout ca.key -out ca.pem -days 2 -subj /CN=A'.split(' ');
    await authority.#openssl('req', '-x509', ...NEW_KEY, ...args);
    return authority;
  }

  /** The file with its own certificate. */
  get file(): string {
    return join(this.#path, 'ca.pem');
  }

  /** @param names as OpenSSL writes them, such as `DNS:localhost` */
  async sign(name: string, names: readonly string[]): Promise<Certificate> {
    const [cert, key] = [join(this.#path, `${name}.pem`), join(this.#path, `${name}.key`)];
    await writeFile(join(this.#path, 'names'), `subjectAltName=${names.join()}`);
    await this.#openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', 'request', '-subj', `/CN=${name}`);
    const by = '-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names'.split(' ');
    await this.#openssl('x509', '-req', '-in', 'request', ...by, '-out', cert);
    await giveToServer(key);
    return { cert, key };
  }

  /** A file of that name, for a server. */
  async write(name: string, text: string): Promise<string> {
    const file = join(this.#path, name);
    await writeFile(file, text);
    return file;
  }

  remove(): void {
    this.#folder.remove();
  }

  async #openssl(...args: string[]): Promise<void> {
    await run(PROGRAM, args, { cwd: this.#path });
  }
}
