import { createRequire } from 'node:module';

const require = createRequire(__filename);

/** Loaded on first use and never bundled: it is native, and optional. Throws where it does not load. */
export function requirePty(): unknown {
  return require('node-pty');
}
