import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on loopback that can be killed and started again on its port. */
export class PortServer {
  private server: Server | undefined;
  private lastPort = 0;

  constructor(private readonly handle: (request: IncomingMessage, response: ServerResponse) => void) {}

  /** Of the first start; 0 before it. */
  get port(): number {
    return this.lastPort;
  }

  async start(): Promise<void> {
    const server = createServer(this.handle);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.lastPort, '127.0.0.1', resolve);
    });
    this.lastPort = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Nobody listens any more, and all connections are cut. */
  async kill(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    server?.closeAllConnections();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }
}
