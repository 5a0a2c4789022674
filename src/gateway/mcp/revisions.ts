/** Revisions of MCP with sessions and a standing stream, newest first. */
export const sessionRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** The first revision without either: each request says in `_meta` what the handshake said before. */
export const statelessRevision = '2026-07-28';

/** Names the `subscriptions/listen` request that a notification belongs to (2026-07-28). */
export const subscriptionIdKey = 'io.modelcontextprotocol/subscriptionId';
