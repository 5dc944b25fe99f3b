/** Shows how far the loading is: a bar on a terminal, a line now and then elsewhere. */
import { Presets, SingleBar } from 'cli-progress';
import { say } from './say.js';

/** Receives the progress; `stop` leaves the terminal as it was. */
export interface Progress {
  update(done: number, total: number): void;
  stop(): void;
}

/** Starts nothing before the first update, so that nothing shows where there is nothing to do. */
export function showProgress(what: string): Progress {
  return process.stdout.isTTY ? bar(what) : lines(what);
}

function bar(what: string): Progress {
  const single = new SingleBar({ format: `${what} {bar} {value} of {total}` }, Presets.shades_classic);
  return {
    update(done, total) {
      if (!single.isActive) single.start(total, 0);
      single.update(done);
    },
    stop: () => single.stop(),
  };
}

function lines(what: string): Progress {
  let quarter = 0;
  return {
    update(done, total) {
      const reached = Math.floor((4 * done) / total);
      if (reached === quarter) return;
      quarter = reached;
      say(`${what}: ${done} of ${total}`);
    },
    stop() {},
  };
}
