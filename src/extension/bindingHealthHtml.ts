/** Addresses and secrets of one load of the page. */
export interface BindingHealthPage {
  /** As `webview.cspSource`. */
  readonly source: string;
  /** Random, new for each load. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly codiconUri: string;
}

/** The document of the Binding Health view. Only this extension's own script, styles and font are let in. */
export function bindingHealthHtml({ source, nonce, scriptUri, codiconUri }: BindingHealthPage): string {
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${source} 'nonce-${nonce}'`,
    `font-src ${source}`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" id="vscode-codicon-stylesheet" nonce="${attribute(nonce)}" href="${attribute(codiconUri)}">
  <title>Bowline: Binding Health</title>
</head>
<body>
  <main id="app" aria-label="Binding Health"></main>
  <script nonce="${attribute(nonce)}" src="${attribute(scriptUri)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
