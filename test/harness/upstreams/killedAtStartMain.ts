// A gateway that is killed right after it has started a stdio server, before it knows which process that is.
import * as z from 'zod/mini';
import { silentLog } from '../../../src/base/log.ts';
import { StdioProcesses } from '../../../src/gateway/upstream/stdioProcesses.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';

const startSchema = z.object({
  directory: z.string(),
  program: z.object({
    command: z.string(),
    args: z.array(z.string()),
    environment: z.record(z.string(), z.string()),
    directory: z.string(),
  }),
});

async function main(): Promise<void> {
  const { directory, program } = startSchema.parse(JSON.parse(process.argv[2] ?? ''));
  const gateway = await processIdentity(process.pid);
  if (gateway === undefined) throw new Error('the start time of this process cannot be read');
  await new StdioProcesses({ directory, gateway, log: silentLog }).start(program);
  process.kill(process.pid, 'SIGKILL');
}

void main();
