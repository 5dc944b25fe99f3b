/** An import under an `Idempotency-Key`: rows that were stored are not stored again, also where their request has failed. */
import { createHash, randomUUID } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type StatementTarget, statementRunner } from '../../postgres/index.js';
import type { ImportSummary } from './import-report.js';
import { importStatements, importTableOf } from './import-table.js';
import type { FileRow } from './read-rows.js';

/** Key of an import. */
export interface ImportKey {
  /** Scope in which it is unique. */
  readonly scope: string;
  readonly key: string;
  /** The same for requests that do the same with a file. */
  readonly fingerprint: string;
  /** Hours. */
  readonly retention: number;
}

/** Seconds without a sign of life, after which another request may go on with an import. */
const CLAIM = '120';
/** Keys that one import removes at most. */
const SWEPT = '100';

/** A claimed import. Each chunk is compared with the stored digest, or is new. */
export class ResumedImport {
  readonly #sequelize: Sequelize;
  readonly #statements: ReturnType<typeof importStatements>;
  readonly #place: readonly [scope: string, key: string, claim: string];
  readonly #hash = createHash('sha256');
  #digest: string | null = null;
  #done = 0;
  #seen = 0;
  /** True where all of it was done before. */
  isDone = false;
  /** The result of earlier chunks. */
  before: ImportSummary | undefined;

  private constructor(model: ModelClass, { scope, key, fingerprint }: ImportKey) {
    this.#sequelize = model.sequelize as Sequelize;
    this.#statements = importStatements(importTableOf(model));
    this.#place = [scope, key, randomUUID()];
    this.#hash.update(fingerprint);
  }

  /** Claims the key. @throws RefusedRequestError 409 while another request has it */
  static async claim(model: ModelClass, key: ImportKey): Promise<ResumedImport> {
    const made = new ResumedImport(model, key);
    const runner = statementRunner(made.#sequelize);
    const retention = String(key.retention * 3_600);
    await runner.write(made.#statements.sweep, [retention, SWEPT]);
    const { rows } = await runner.write(made.#statements.claim, [...made.#place, CLAIM, retention]);
    const [row] = rows;
    if (!row) throw new RefusedRequestError(409, UNDER_WAY, { 'Retry-After': '5' });
    const [digest = null, done, result, isDone] = row;
    made.#digest = digest;
    made.#done = Number(done);
    made.isDone = isDone === 't';
    if (result) made.before = JSON.parse(result);
    return made;
  }

  /** Notes the header, before any row. */
  readHeader(text: string): void {
    this.#hash.update(`${text}\n`);
  }

  /** True where the rows of a chunk were stored before. @throws RefusedRequestError 422 for another file */
  hasStored(chunk: readonly FileRow[]): boolean {
    for (const { text } of chunk) this.#hash.update(`${text}\n`);
    this.#seen += chunk.length;
    if (this.#seen < this.#done) return true;
    if (this.#seen === this.#done) {
      if (this.#digestSoFar() !== this.#digest) throw otherFile();
      return true;
    }
    if (this.isDone || this.#seen - chunk.length < this.#done) throw otherFile();
    return false;
  }

  /** Compares the end of the file. @throws RefusedRequestError 422 for another file */
  checkEnd(): void {
    if (this.#seen < this.#done || (this.#done === 0 && this.isDone && this.#digestSoFar() !== this.#digest))
      throw otherFile();
  }

  /** Keeps that all rows so far are stored, in the transaction that stores the last of them. @throws RefusedRequestError 409 */
  async keep(summary: ImportSummary, isDone: boolean, on?: StatementTarget): Promise<void> {
    const kept = [this.#digestSoFar(), String(this.#seen), JSON.stringify(summary), String(isDone), CLAIM];
    const target = on ?? statementRunner(this.#sequelize);
    const { count } = await target.write(this.#statements.keep, [...this.#place, ...kept]);
    if (count !== 1) throw new RefusedRequestError(409, UNDER_WAY, { 'Retry-After': '5' });
  }

  /** Ends the claim, so that the request may be sent again at once. Never throws: the claim ends by itself. */
  async release(): Promise<void> {
    const runner = statementRunner(this.#sequelize);
    const place = [...this.#place];
    const { forget, release } = this.#statements;
    await runner
      .write(forget, place)
      .then(() => runner.write(release, place))
      .catch(() => {});
  }

  #digestSoFar(): string {
    return this.#hash.copy().digest('base64url');
  }
}

const UNDER_WAY = 'An import with this Idempotency-Key is under way; send it again a little later.';

function otherFile(): RefusedRequestError {
  return new RefusedRequestError(
    422,
    'This Idempotency-Key was used for another file, or for another request; use another key.',
  );
}
