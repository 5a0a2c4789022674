// A real MCP server (server 2.x) of revision 2026-07-28 over stdio.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createStatelessServer } from './statelessServer.ts';

const seen = { calls: [], cancelled: 0, clients: new Set<string>() };
serveStdio(() => createStatelessServer(seen), { legacy: 'reject' });
