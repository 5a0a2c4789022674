// The scripted model as a program: `node --import tsx test/harness/scriptedModelMain.ts [PORT]`, until it is ended.
import { startScriptedModel } from './scriptedModel.ts';

void startScriptedModel({ port: Number(process.argv[2] ?? 0) }).then((model) => {
  console.log(`scripted model on ${model.url}`);
});
