/**
 * Parts of a session that can be undone alone. Savepoints of branches of a `Promise.all` take turns: PostgreSQL undoes all that came behind
 * a savepoint, also another one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Maybe } from '../../util/promises.js';

/** The innermost part of the running code, of any session. */
const running = new AsyncLocalStorage<SessionPart>();

/** A session as a whole, or a savepoint in it. */
export class SessionPart {
  readonly #name: string;
  readonly #whole: SessionPart;
  /** The part around it; it may be over, or of another session. */
  readonly #outer: SessionPart | undefined;
  #isOver = false;
  #isUndone = false;
  /** End of the part in it that was opened last. */
  #last: Promise<unknown> | null = null;

  constructor(name = 'session', whole?: SessionPart, outer?: SessionPart) {
    this.#name = name;
    this.#whole = whole ?? this;
    this.#outer = outer;
  }

  /** The innermost open part of this session that the running code is in. */
  get current(): SessionPart {
    return this.#find(() => true) ?? this;
  }

  /** True where the running code is in an open part of this session that has the name. */
  isIn(name: string): boolean {
    return this.#find((part) => part.#name === name) !== undefined;
  }

  /** True where the running code goes on in a part of this session that was undone. */
  get isUndone(): boolean {
    let part = running.getStore();
    while (part && !(part.#whole === this && part.#isUndone)) part = part.#outer;
    return part !== undefined;
  }

  /** Undoes the part, which has ended. */
  noteUndone(): void {
    this.#isUndone = true;
  }

  /** True for the part itself, and for those in it. */
  includes(part: SessionPart): boolean {
    let each: SessionPart | undefined = part;
    while (each && each !== this) each = each.#outer;
    return each !== undefined;
  }

  /** Runs a new part of this session, once the one before it in the same part has ended. */
  run<T>(name: string, work: (part: SessionPart) => Promise<T>): Promise<T> {
    const around = this.current;
    const part = new SessionPart(name, this, running.getStore());
    const start = () => running.run(part, work, part);
    const done = around.#last ? around.#last.then(start, start) : start();
    around.#last = done;
    return done;
  }

  /** Ends it, once the parts in it have ended: those of a branch that its work has not awaited would be released with it. */
  end(): Maybe<void> {
    if (this.#last) return this.#settle();
    this.#isOver = true;
  }

  async #settle(): Promise<void> {
    let last: Promise<unknown> | null = null;
    while (last !== this.#last) {
      last = this.#last;
      await last?.catch(() => {});
    }
    this.#isOver = true;
  }

  #find(isWanted: (part: SessionPart) => boolean): SessionPart | undefined {
    let part = running.getStore();
    while (part && (part.#whole !== this || part.#isOver || !isWanted(part))) part = part.#outer;
    return part;
  }
}
