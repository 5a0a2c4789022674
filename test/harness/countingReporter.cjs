'use strict';
// mocha's spec reporter that also leaves its counts and what failed in the file BOWLINE_TEST_COUNTS, for the runner of all steps.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.BOWLINE_TEST_COUNTS;
    if (file === undefined) return;
    const failures = [];
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      failures.push(`${test.fullTitle()}: ${error?.message ?? String(error)}`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures: failed, pending } = this.stats;
      writeFileSync(file, JSON.stringify({ passed: passes, failed, pending, failures }));
    });
  }
};
