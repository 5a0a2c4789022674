// The usual way to watch tmux: one `tmux list-panes -a` process a second. Arguments: tmux, its socket.
import { execFile } from 'node:child_process';
import { paneFormat, parsePane } from '../../src/core/tmux/formats.ts';

const [tmux = 'tmux', socket = ''] = process.argv.slice(2);

setInterval(() => {
  execFile(tmux, ['-S', socket, 'list-panes', '-a', '-F', paneFormat], (error, stdout) => {
    const panes = stdout.split('\n').flatMap((line) => parsePane(line) ?? []);
    if (error !== null || panes.length === 0) process.exit(1);
  });
}, 1_000);
