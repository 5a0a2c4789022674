/** What stays when VS Code is closed (a part of `vscode.Memento`). */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}
