/** Mocha's ordinary output, and what came of the run for the process that started it. */
const { Runner, reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const failed = this.failures.map(
        (test) => `${test.titlePath().join(' › ')}\n    ${test.file}\n    ${told(test.err)}`,
      );
      process.send?.({ passed: passes, failed: failures, skipped: pending, failures: failed });
    });
  }
};

/** The stack holds the message. What was thrown may be no error at all. */
function told(error) {
  return String(error?.stack ?? error).replaceAll('\n', '\n    ');
}
