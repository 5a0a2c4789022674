import * as vscode from 'vscode';
import { DisposableObject } from '../base/lifecycle.ts';
import type { Log, LogFields } from '../base/log.ts';

/** The output channel "Bowline" as a log. */
export class ChannelLog extends DisposableObject implements Log {
  private readonly channel = this._register(vscode.window.createOutputChannel('Bowline', { log: true }));

  debug(message: string, fields?: LogFields): void {
    this.channel.debug(line(message, fields));
  }

  info(message: string, fields?: LogFields): void {
    this.channel.info(line(message, fields));
  }

  warn(message: string, fields?: LogFields): void {
    this.channel.warn(line(message, fields));
  }

  error(message: string, fields?: LogFields): void {
    this.channel.error(line(message, fields));
  }

  show(): void {
    this.channel.show(true);
  }
}

function line(message: string, fields: LogFields = {}): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${typeof value === 'string' ? JSON.stringify(value) : String(value)}`],
  );
  return [message, ...parts].join(' ');
}
