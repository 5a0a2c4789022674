/** What `claude` is started with. Identity and secrets are in the files, never in an argument. */
export interface LaunchOptions {
  readonly conversation: { readonly mode: 'fresh' } | { readonly mode: 'resume'; readonly sessionId: string };
  readonly settingsFile: string;
  readonly mcpConfigFile: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly effort?: string;
  /** Appended to Claude's own. */
  readonly systemPrompt?: string;
  readonly addedDirectories?: readonly string[];
  /** The person's own, last, so that a prompt or a variadic option among them swallows nothing of ours. */
  readonly extraArguments: readonly string[];
}

/**
 * The words after the program. `--mcp-config` takes every word that follows it, so files are given with `=`, which it
 * does not do (measured, claude 2.1.160 and 2.1.332). A name that the MCP file gives beats the same name of every scope and
 * plugin, which is then not started; `--strict-mcp-config` would take the servers of plugins and the connectors of claude.ai
 * away (measured, both; see `keptFromClaude`). Throws a RangeError for a session id that is no UUID: Claude would open a list
 * of conversations and wait there.
 */
export function launchArguments(options: LaunchOptions): readonly string[] {
  const { conversation, model, permissionMode, effort, systemPrompt, addedDirectories = [] } = options;
  return [
    `--settings=${options.settingsFile}`,
    `--mcp-config=${options.mcpConfigFile}`,
    ...(conversation.mode === 'resume' ? [`--resume=${checkedSessionId(conversation.sessionId)}`] : []),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(permissionMode === undefined ? [] : [`--permission-mode=${permissionMode}`]),
    ...(effort === undefined ? [] : [`--effort=${effort}`]),
    ...(systemPrompt === undefined ? [] : [`--append-system-prompt=${systemPrompt}`]),
    ...addedDirectories.map((directory) => `--add-dir=${directory}`),
    ...options.extraArguments,
  ];
}

/** Whether a text has the form of a session id: a UUID. */
export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

function checkedSessionId(text: string): string {
  if (!isSessionId(text)) throw new RangeError('A conversation is resumed by the UUID of its session only.');
  return text;
}
