import { connect, type Socket } from 'node:net';

/** Connects and reads what comes; errors of the connection are its end. */
export class RawHttp {
  private received = '';
  private isOver = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.isOver = true));
  }

  /** `allowHalfOpen`: this end is not closed with the other one. */
  static connect(port: number, options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawHttp> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ...options }, () => {
        resolve(new RawHttp(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Sends a text and resolves with all that comes until the other end closes. */
  static async exchange(port: number, text: string): Promise<string> {
    const one = await RawHttp.connect(port);
    const closed = new Promise((resolve) => one.socket.once('close', resolve));
    one.socket.write(text, 'latin1');
    await closed;
    return one.text;
  }

  get text(): string {
    return this.received;
  }

  get closed(): boolean {
    return this.isOver;
  }
}

/** The status of each answer in what came. */
export function statusesOf(text: string): readonly string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status ?? '');
}
