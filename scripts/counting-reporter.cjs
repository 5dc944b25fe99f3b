/** Mocha's ordinary output, and the numbers of the run for the process that started it. */
const { Runner, reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      process.send?.({ passed: passes, failed: failures, skipped: pending });
    });
  }
};
