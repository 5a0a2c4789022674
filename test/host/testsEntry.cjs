'use strict';
// What VS Code really loads as extensionTestsPath. It runs the project's own entry (BOWLINE_HOST_ENTRY) and leaves proof
// of how that ended (BOWLINE_HOST_RESULT): VS Code reports a crashed extension host as exit code 0.
// Console and stdout go to a file (BOWLINE_HOST_OUTPUT) that the runner prints, untouched by the workbench's log.
const fs = require('node:fs');
const { Console } = require('node:console');
const { Writable } = require('node:stream');

const { BOWLINE_HOST_ENTRY, BOWLINE_HOST_OUTPUT, BOWLINE_HOST_RESULT } = process.env;

exports.run = async () => {
  const output = fs.openSync(BOWLINE_HOST_OUTPUT, 'a');
  const sink = new Writable({
    write(chunk, _encoding, done) {
      fs.writeSync(output, chunk);
      done();
    },
  });
  // VS Code's own console ignores assignments to its methods.
  globalThis.console = new Console({ stdout: sink, stderr: sink });
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk, encoding, done) => {
      fs.writeSync(output, chunk);
      const callback = typeof encoding === 'function' ? encoding : done;
      if (callback) process.nextTick(callback);
      return true;
    };
  }
  const end = (result) => fs.writeFileSync(BOWLINE_HOST_RESULT, JSON.stringify(result));
  try {
    await require(BOWLINE_HOST_ENTRY).run();
    end({ ok: true });
  } catch (error) {
    end({ ok: false, error: String(error?.message ?? error) });
    throw error;
  }
};
