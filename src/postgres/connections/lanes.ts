/** The connections that reads share. */
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import type { ConnectionSource } from './connection-source.js';
import { PipelinedReader } from './pipelined-reader.js';

/** The second one is for when PostgreSQL, which answers a lane one read after the other, is slower than Node asks. */
const LANES = 2;
/**
 * Milliseconds of PostgreSQL's time that are under way on one lane before another is opened: the more reads go together,
 * the cheaper each is, as long as it is Node that they wait for. The cost of a statement tells: answers that wait for Node
 * are read one right after the other, which makes the fastest next to nothing.
 */
const LANE_TIME = 4;
/** The lanes of one instance. */
export class Lanes {
  readonly #lanes: readonly PipelinedReader[];
  /** True where all lanes get as many reads, for each of the servers. */
  readonly #isDealing: boolean;
  #turn = 0;

  /** @param canShare whether there are any */
  constructor(source: ConnectionSource, executor: StatementExecutor, canShare: boolean) {
    const { maxReads, readServers } = source;
    // One connection at least is left to those who need it alone.
    const count = canShare ? Math.min(Math.max(LANES, readServers), Math.max(1, maxReads - 1)) : 0;
    this.#isDealing = readServers > 1;
    this.#lanes = Array.from({ length: count }, () => new PipelinedReader(source, executor));
  }

  /** Number of lanes with a connection. */
  get inUse(): number {
    return this.#lanes.reduce((sum, { isInUse }) => sum + (isInUse ? 1 : 0), 0);
  }

  /**
   * The lane with the fewest reads. One that is not in use only when those that are have enough; but where each is to a
   * server of its own, those that are equal in turn.
   */
  laneFor({ cost }: PreparedStatement): PipelinedReader | undefined {
    const count = this.#lanes.length;
    if (this.#isDealing) this.#turn = (this.#turn + 1) % count;
    let best: PipelinedReader | undefined;
    for (let index = 0; index < count; index += 1) {
      const lane = this.#lanes[(index + this.#turn) % count] as PipelinedReader;
      if (!lane.isOpen || (best && lane.load >= best.load)) continue;
      const isEnough = best && !this.#isDealing && best.load * cost < LANE_TIME && lane.load === 0;
      if (!isEnough) best = lane;
    }
    return best;
  }
}
