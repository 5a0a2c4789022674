import { deepStrictEqual, match } from 'node:assert/strict';
import { bindingHealthHtml } from '../../../src/extension/bindingHealthHtml.ts';

describe('the document of the Binding Health view', () => {
  const html = bindingHealthHtml({
    source: 'https://page',
    nonce: 'n0nce',
    scriptUri: 'https://page/webview.js?a=1&b="2"',
    codiconUri: 'https://page/codicon.css',
  });

  it('lets in its own script, styles and font, and nothing else', () => {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]?.split('; ');
    deepStrictEqual(policy, [
      "default-src 'none'",
      "script-src 'nonce-n0nce'",
      "style-src https://page 'nonce-n0nce'",
      'font-src https://page',
    ]);
    const scripts = [...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    deepStrictEqual(scripts, ['<script nonce="n0nce" src="https://page/webview.js?a=1&amp;b=&quot;2&quot;">']);
  });

  it('has a language, a title and a place for the page', () => {
    for (const part of [/<html lang="en">/, /<title>Bowline: Binding Health<\/title>/, /<main id="app" aria-label=/]) {
      match(html, part);
    }
  });
});
