/** Mocha's ordinary output, and the numbers of the run for the process that started it. */
const { Runner, reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      process.send?.({ passed: this.stats.passes, failed: this.stats.failures });
    });
  }
};
