import assert from 'node:assert/strict';
import { agentBaseEnvironment } from '../../../src/node/environment.ts';

describe('environment of agents', () => {
  it('keeps what a program of the person needs and drops what the editor or another Claude left', () => {
    const kept = {
      HOME: '/h',
      PATH: '/bin',
      LC_ALL: 'C.UTF-8',
      XDG_RUNTIME_DIR: '/run/user/1',
      https_proxy: 'http://p',
      NO_PROXY: 'localhost',
      NODE_EXTRA_CA_CERTS: '/ca',
      SSL_CERT_FILE: '/ca',
      ANTHROPIC_BASE_URL: 'http://a',
      CLAUDE_CONFIG_DIR: '/c',
      CLAUDE_CODE_USE_BEDROCK: '1',
      AWS_PROFILE: 'p',
    };
    const dropped = {
      CLAUDECODE: '1',
      CLAUDE_CODE_CHILD_SESSION: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      VSCODE_PID: '1',
      VSCODE_IPC_HOOK_CLI: '/s',
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--inspect',
      npm_config_proxy: 'x',
      npm_config_https_proxy: 'x',
      TMUX: '/t,1,0',
      TMUX_PANE: '%1',
      TERM: 'dumb',
      BOWLINE_HOME: '/b',
      UNSET: undefined,
    };
    assert.deepStrictEqual(agentBaseEnvironment({ ...dropped, ...kept }), kept);
  });
});
