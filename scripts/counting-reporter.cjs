/** Mocha's ordinary output, and what came of the run for the process that started it. */
const { Runner, reporters } = require('mocha');
const path = require('node:path');
const { processorTimeOfFamily } = require('../dist/bench/measure/processor-time.js');

const { EVENT_RUN_BEGIN, EVENT_RUN_END, EVENT_SUITE_END } = Runner.constants;

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const costs = {};
    let before = 0;
    runner.once(EVENT_RUN_BEGIN, () => {
      before = processorTime();
    });
    runner.on(EVENT_SUITE_END, ({ parent, file }) => {
      if (!parent?.root) return;
      const now = processorTime();
      const name = path.relative(process.cwd(), file);
      costs[name] = (costs[name] ?? 0) + now - before;
      before = now;
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const failed = this.failures.map(
        (test) => `${test.titlePath().join(' › ')}\n    ${test.file}\n    ${told(test.err)}`,
      );
      process.send?.({ passed: passes, failed: failures, skipped: pending, failures: failed, costs });
    });
  }
};

/** Seconds, with those of databases and other processes that the tests have started; of this process alone where there is no `/proc`. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (process.platform === 'linux' ? processorTimeOfFamily(process.pid) : user + system) / 1e6;
}

/** The stack holds the message. What was thrown may be no error at all. */
function told(error) {
  return String(error?.stack ?? error).replaceAll('\n', '\n    ');
}
