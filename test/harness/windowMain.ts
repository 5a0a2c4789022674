// A window without VS Code in a process of its own, so that it can be killed or stopped: `node windowMain.js OPTIONS`,
// where OPTIONS are the fields of `windowArgumentsSchema` as JSON. Ends with a signal, or when its parent is gone.
import { JsonlLog } from '../../src/node/jsonlLog.ts';
import { createRigWindow, windowArgumentsSchema } from './rigWindow.ts';

const { logFile, ...given } = windowArgumentsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const { client } = createRigWindow({ ...given, hands: 'offered', log: new JsonlLog(logFile) });
client.start();
process.stdin.resume().on('close', () => process.exit());
