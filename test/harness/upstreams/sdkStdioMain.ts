// A real MCP server (sdk 1.x) over stdio. Words among its arguments change how it behaves.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createSdkServer } from './sdkServer.ts';

const words = new Set(process.argv.slice(2));
if (words.has('deaf')) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 60_000);
}
if (words.has('noisy'))
  for (let line = 0; line < 20_000; line++) console.error(`noise ${line} ${process.env['TOKEN'] ?? ''}`);
if (words.has('garbage')) {
  process.stdout.write('Server listens on stdio\n');
  process.stdout.write(Buffer.from([0xc3, 0x28, 0x0a]));
  process.stdout.write('{"jsonrpc":"2.0","id":99,"result":{"of":"nobody"}}\n{"torn":\n');
}
if (words.has('broken')) throw new Error('cannot find its configuration');
void createSdkServer(words.has('giant') ? 10_000 : 0).server.connect(new StdioServerTransport());
