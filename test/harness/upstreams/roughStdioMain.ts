// A stdio server's process that behaves as its argument says; it speaks no MCP. Each line that it reads it writes back.
import { createInterface } from 'node:readline';

const [how = '', ...rest] = process.argv.slice(2);
const say = (text: string | Buffer): void => {
  process.stdout.write(text);
};
switch (how) {
  case 'echo':
    break;
  case 'deaf': // ends at no end of input and at no SIGTERM
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 60_000);
    break;
  case 'exit':
    console.error('cannot go on: secret-of-the-definition');
    process.exit(Number(rest[0]));
    break;
  case 'broken lines':
    say(Buffer.concat([Buffer.from('"one"\n'), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from('"π')]));
    setImmediate(() => {
      say(' two"\r\n\n');
    });
    break;
  case 'huge line':
    say(`"${'x'.repeat(17 * 1024 * 1024)}"\n"after"\n`);
    break;
  case 'no reader':
    setInterval(() => undefined, 60_000);
    break;
  case 'environment':
    say(`${JSON.stringify({ environment: process.env, directory: process.cwd(), arguments: rest })}\n`);
    break;
  default:
    throw new Error(`unknown: ${how}`);
}
if (how !== 'no reader') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    say(`${line}\n`);
  });
}
