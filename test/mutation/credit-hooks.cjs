/**
 * Says which tests reach what runs in a `before` hook: all tests of its suite. Stryker would say the last test of the suite before
 * it, or none; so mutants of what an application does at its start would be tried without a test that starts it.
 */
const { Runner } = require('mocha');

/** To be called once, before Mocha runs. */
exports.creditHooks = function creditHooks() {
  const { run } = Runner.prototype;
  // The first run is that without a mutant, which finds out what is reached.
  Runner.prototype.run = function (...args) {
    Runner.prototype.run = run;
    watch(this);
    return run.apply(this, args);
  };
};

function watch(runner) {
  const suites = new Map();
  runner.on(Runner.constants.EVENT_HOOK_BEGIN, ({ title, parent }) => {
    if (!title.startsWith('"before all"')) return;
    const id = `before ${parent.fullTitle()}`;
    suites.set(id, parent);
    globalThis.__stryker__.currentTestId = id;
  });
  runner.on(Runner.constants.EVENT_RUN_END, () => {
    const { perTest = {} } = globalThis.__stryker__.mutantCoverage ?? {};
    for (const [id, suite] of suites) {
      const hits = perTest[id] ?? {};
      delete perTest[id];
      suite.eachTest((test) => {
        perTest[test.fullTitle()] = sum(hits, perTest[test.fullTitle()]);
      });
    }
  });
}

function sum(hits, others = {}) {
  const all = { ...others };
  for (const [mutant, count] of Object.entries(hits)) all[mutant] = (all[mutant] ?? 0) + count;
  return all;
}
