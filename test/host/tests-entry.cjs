'use strict';
// What VS Code really loads as extensionTestsPath. It runs the project's own entry (VSHOST_TESTS) and leaves
// proof of how that ended (VSHOST_RESULT): VS Code reports a crashed extension host as exit code 0.
// Console and stdout go to a file (VSHOST_OUT) that the runner prints, untouched by the workbench's log.
const fs = require('node:fs');
const { Console } = require('node:console');
const { Writable } = require('node:stream');
const { pathToFileURL } = require('node:url');

const { VSHOST_TESTS, VSHOST_OUT, VSHOST_RESULT } = process.env;

async function load(file) {
  try {
    return require(file);
  } catch (e) {
    if (e.code !== 'ERR_REQUIRE_ESM' && e.code !== 'ERR_REQUIRE_ASYNC_MODULE') {
      throw e;
    }
    return import(pathToFileURL(require.resolve(file)).href);
  }
}

exports.run = async () => {
  const fd = fs.openSync(VSHOST_OUT, 'a');
  const put = (s) => {
    fs.writeSync(fd, s);
  };
  const sink = new Writable({
    write(chunk, _enc, cb) {
      put(chunk);
      cb();
    },
  });
  globalThis.console = new Console({ stdout: sink, stderr: sink }); // VS Code's own console ignores assignments to its methods
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk, enc, cb) => {
      put(chunk);
      const done = typeof enc === 'function' ? enc : cb;
      if (done) {
        process.nextTick(done);
      }
      return true;
    };
  }
  const end = (r) => fs.writeFileSync(VSHOST_RESULT, JSON.stringify(r));
  try {
    const entry = await load(VSHOST_TESTS);
    const run = entry.run ?? entry.default?.run;
    if (typeof run !== 'function') {
      throw new Error(`${VSHOST_TESTS} exports no run()`);
    }
    if (run.length >= 2) {
      // the old callback form: run(testsRoot, callback)
      await new Promise((resolve, reject) =>
        run(VSHOST_TESTS, (e, failures) =>
          e ? reject(e) : failures ? reject(new Error(`${failures} test(s) failed`)) : resolve(),
        ),
      );
    } else {
      await run();
    }
    end({ ok: true });
  } catch (e) {
    end({ ok: false, error: String(e?.message ?? e) });
    throw e;
  }
};
