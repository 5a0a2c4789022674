'use strict';
// mocha's spec reporter that also leaves its counts in the file BOWLINE_TEST_COUNTS, for the runner of all steps.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.BOWLINE_TEST_COUNTS;
    if (file === undefined) return;
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, pending }));
    });
  }
};
