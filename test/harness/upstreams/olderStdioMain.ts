// A real MCP server (server 2.x) over stdio that knows one revision, which its argument names.
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createOlderServer } from './olderUpstream.ts';

void createOlderServer(process.argv[2] ?? '').connect(new StdioServerTransport());
