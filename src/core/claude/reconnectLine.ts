/** The line that makes a client connect to an MCP server anew. Bowline alone types it with a server's name. */
export function reconnectLine(server: string): string {
  return `/mcp reconnect ${server}`;
}

/** Whether what stands in an input line is such a line, so that nothing is lost with it. */
export function isReconnectLine(text: string): boolean {
  return /^\/mcp reconnect \S+$/.test(text);
}
