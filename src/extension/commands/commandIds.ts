/** Every command of the extension. The manifest lists the same ones (a test compares them). */
export const commandIds = [
  'bowline.newAgent',
  'bowline.attach',
  'bowline.sendPrompt',
  'bowline.sendPromptDocument',
  'bowline.interruptTurn',
  'bowline.restart',
  'bowline.forceFreshRestart',
  'bowline.restartBypassingGuard',
  'bowline.forkConversation',
  'bowline.keepTrying',
  'bowline.resumeOtherConversation',
  'bowline.openTranscript',
  'bowline.stop',
  'bowline.stopAll',
  'bowline.start',
  'bowline.configureAgent',
  'bowline.remove',
  'bowline.verifyBinding',
  'bowline.reconnectMcp',
  'bowline.healNow',
  'bowline.healAll',
  'bowline.hostResumed',
  'bowline.showCauses',
  'bowline.showLog',
] as const;

export type CommandId = (typeof commandIds)[number];
