/** A client: sends one request after the other, and remembers the answers. */
import { Agent } from 'node:http';
import { type Dice, dice } from '../support/dice.js';
import type { Ledger } from './ledger.js';
import { MARK, type TableName } from './models.js';
import { type Answer, type Call, send } from './send.js';
import type { BackEnd, Witness } from './witness.js';

/** State that all clients of a run share. */
export interface Run {
  readonly port: number;
  readonly ledger: Ledger;
  readonly witness: Witness;
  /** The latest tags of accounts. */
  readonly tags: Map<string, string>;
}

/** A request, with its allowed statuses. */
export interface Wanted extends Call {
  /** Its kind, for reports. */
  readonly name: string;
  /** Back ends that it needs. Default: PostgreSQL. */
  readonly needs?: readonly BackEnd[];
  readonly statuses: readonly number[];
}

/** Rows of one text that a client has created, and may delete. */
export interface Created {
  readonly table: TableName;
  readonly text: string;
  readonly ids: readonly number[];
}

/** Has a connection of its own. */
export class SoakClient implements Disposable {
  readonly dice: Dice;
  readonly run: Run;
  readonly created: Created[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #name: string;
  #count = 0;

  constructor(run: Run, seed: number, index: number) {
    this.run = run;
    this.dice = dice(seed + index);
    this.#name = `${MARK}${index}`;
  }

  /** A text that no other write has. */
  newText(): string {
    this.#count += 1;
    return `${this.#name}-${this.#count}`;
  }

  /** Sends a request. @returns its answer where that is one of those that are wanted, else null */
  async ask({ name, needs = ['postgres'], statuses, ...call }: Wanted): Promise<Answer | null> {
    const began = performance.now();
    const answer = await send(this.#agent, this.run.port, call);
    const isRight = this.run.witness.judge({
      name,
      needs,
      statuses,
      isHead: call.method === 'HEAD',
      began,
      answer,
    });
    return isRight && !(answer instanceof Error) ? answer : null;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
