import type { HostToWebviewMessage, WebviewToHostMessage } from '../protocol/webview.ts';

/** The page's side of VS Code's webview API. */
interface VsCodeApi {
  postMessage(message: WebviewToHostMessage): void;
  getState(): unknown;
  setState(state: object): void;
}

declare global {
  /** Given by VS Code to scripts of a webview; may be called once. */
  function acquireVsCodeApi(): VsCodeApi;
}

/** What the page needs of its host. */
export interface Host {
  post(message: WebviewToHostMessage): void;
  /** What the last page left, whatever that is. */
  readState(): unknown;
  keepState(state: object): void;
  onMessage(listener: (message: HostToWebviewMessage) => void): void;
}

/** Connects to VS Code. Call it once. */
export function connectHost(): Host {
  const api = acquireVsCodeApi();
  return {
    post: (message) => {
      api.postMessage(message);
    },
    readState: () => api.getState(),
    keepState: (state) => {
      api.setState(state);
    },
    onMessage: (listener) => {
      window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (isHostMessage(data)) listener(data);
      });
    },
  };
}

/** Host and page are of one package, so the kind tells the shape; anything else on the window is not for the page. */
function isHostMessage(data: unknown): data is HostToWebviewMessage {
  return (
    typeof data === 'object' && data !== null && 'kind' in data && (data.kind === 'view' || data.kind === 'changes')
  );
}
