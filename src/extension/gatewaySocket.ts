import { connect } from 'node:net';
import { WebSocket } from 'ws';
import * as z from 'zod/mini';
import { toDisposable } from '../base/lifecycle.ts';
import type { Endpoint } from '../protocol/endpointFile.ts';
import { type GatewayMessage, gatewayMessageSchema, streamPath, type WindowMessage } from '../protocol/stream.ts';

/** One WebSocket connection to the gateway. */
export interface GatewaySocket {
  send(message: WindowMessage): void;
  /** Resolves, in words, with why the connection ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends the connection at once; `ended` resolves with `reason`. */
  end(reason: string): void;
}

/** What {@link openGatewaySocket} works with. Times are in milliseconds. */
export interface GatewaySocketOptions {
  /** From here until the upgrade is answered. A dead gateway behind an open port makes clients wait that long. */
  readonly answerMs: number;
  /** Without a ping or a message for this long the gateway is hung. It pings every 5 s. */
  readonly silenceMs: number;
  readonly onMessage: (message: GatewayMessage | UnreadableMessage) => void;
}

/** Not of this protocol. What is no snapshot may have been an event, so that a number is missed. */
export type UnreadableMessage = 'unreadable' | 'unreadable snapshot';

const kindSchema = z.object({ kind: z.string() });

/**
 * Connects to the gateway's stream. Rejects, with a sentence's worth of words as message, when the port refuses, when
 * the upgrade is refused, and when no answer came in time.
 */
export function openGatewaySocket(endpoint: Endpoint, options: GatewaySocketOptions): Promise<GatewaySocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${endpoint.port}${streamPath}`, {
    headers: { authorization: `Bearer ${endpoint.token}` },
    handshakeTimeout: options.answerMs,
    perMessageDeflate: false,
  });
  let endReason: string | undefined;
  let announceEnd: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (announceEnd = resolve));
  const end = (reason: string): void => {
    endReason ??= reason;
    socket.terminate();
  };
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      end(`it answered with status ${response.statusCode ?? 'unknown'}`);
      reject(new Error(endReason));
    });
    socket.on('error', (error) => {
      endReason ??= describeError(error, endpoint, options);
      reject(new Error(endReason));
    });
    socket.on('open', () => {
      const watch = watchSilence(options.silenceMs, () => {
        end(`it has not said anything for ${Math.round(options.silenceMs / 1000)} s`);
      });
      socket.on('ping', watch.heard);
      socket.on('message', (data) => {
        watch.heard();
        options.onMessage(readMessage(data));
      });
      socket.on('close', (code, reason) => {
        watch.dispose();
        const words = reason.toString('utf8');
        announceEnd(endReason ?? (words === '' ? `the connection was closed (${code})` : words));
      });
      resolve({
        send: (message) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
        },
        ended,
        end,
      });
    });
  });
}

/** What a closed or open port means: only where it refuses do clients count their tries and give up. */
export function probePort(port: number, timeoutMs: number): Promise<'refused' | 'open' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: timeoutMs });
    const answer = (result: 'refused' | 'open' | 'unknown'): void => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => {
      answer('open');
    });
    socket.on('timeout', () => {
      answer('unknown');
    });
    socket.on('error', (error) => {
      answer('code' in error && error.code === 'ECONNREFUSED' ? 'refused' : 'unknown');
    });
  });
}

function readMessage(data: unknown): GatewayMessage | UnreadableMessage {
  try {
    const value: unknown = JSON.parse(String(data));
    const parsed = gatewayMessageSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    return kindSchema.safeParse(value).data?.kind === 'snapshot' ? 'unreadable snapshot' : 'unreadable';
  } catch {
    // Not JSON: the receiver logs it and asks for a snapshot.
    return 'unreadable';
  }
}

function describeError(error: Error, endpoint: Endpoint, options: GatewaySocketOptions): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return `nothing listens on port ${endpoint.port}`;
  if (error.message.includes('handshake has timed out')) {
    return `the port is open, but no answer came within ${Math.round(options.answerMs / 1000)} s`;
  }
  return error.message;
}

/** Calls `onSilence` when `heard` was not called for `limitMs`. A machine that slept gets one more period. */
function watchSilence(limitMs: number, onSilence: () => void): { heard: () => void; dispose: () => void } {
  const everyMs = Math.max(10, limitMs / 6);
  let lastHeard = performance.now();
  let lastTick = lastHeard;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - lastTick > everyMs * 3) lastHeard = now;
    lastTick = now;
    if (now - lastHeard >= limitMs) onSilence();
  }, everyMs);
  const stop = toDisposable(() => {
    clearInterval(timer);
  });
  return {
    heard: () => {
      lastHeard = performance.now();
    },
    dispose: () => {
      stop.dispose();
    },
  };
}
