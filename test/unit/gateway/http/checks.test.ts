import assert from 'node:assert/strict';
import { bearerToken, checkEdges, equalSecrets, isDiscoveryPath } from '../../../../src/gateway/http/checks.ts';

describe('edges of the gateway', () => {
  it('lets only its own host and origin in', () => {
    const judged = (headers: { host?: string; origin?: string }, ...more: string[]): string => {
      const rawHeaders = [...Object.entries(headers).flat(), ...more];
      return checkEdges({ headers, rawHeaders }, 4711)?.code ?? 'served';
    };
    const own = '127.0.0.1:4711';
    assert.deepStrictEqual(
      {
        own: judged({ host: own }),
        localhost: judged({ host: 'localhost:4711' }),
        capitals: judged({ host: 'LOCALHOST:4711' }),
        ownOrigin: judged({ host: own, origin: 'http://127.0.0.1:4711' }),
        localOrigin: judged({ host: own, origin: 'http://localhost:4711' }),
        noHost: judged({}),
        evilHost: judged({ host: 'evil.example' }),
        evilHostWithPort: judged({ host: 'evil.example:4711' }),
        suffix: judged({ host: '127.0.0.1:4711.evil.example' }),
        twoHosts: judged({ host: own }, 'Host', 'evil.example'),
        otherPort: judged({ host: '127.0.0.1:4712' }),
        noPort: judged({ host: '127.0.0.1' }),
        ipv6: judged({ host: '[::1]:4711' }),
        evilOrigin: judged({ host: own, origin: 'http://evil.example' }),
        nullOrigin: judged({ host: own, origin: 'null' }),
        emptyOrigin: judged({ host: own, origin: '' }),
        https: judged({ host: own, origin: 'https://127.0.0.1:4711' }),
        otherPortOrigin: judged({ host: own, origin: 'http://127.0.0.1:4712' }),
        extension: judged({ host: own, origin: 'vscode-webview://x' }),
      },
      {
        own: 'served',
        localhost: 'served',
        capitals: 'served',
        ownOrigin: 'served',
        localOrigin: 'served',
        noHost: 'host-forbidden',
        evilHost: 'host-forbidden',
        evilHostWithPort: 'host-forbidden',
        suffix: 'host-forbidden',
        twoHosts: 'host-forbidden',
        otherPort: 'host-forbidden',
        noPort: 'host-forbidden',
        ipv6: 'host-forbidden',
        evilOrigin: 'origin-forbidden',
        nullOrigin: 'origin-forbidden',
        emptyOrigin: 'origin-forbidden',
        https: 'origin-forbidden',
        otherPortOrigin: 'origin-forbidden',
        extension: 'origin-forbidden',
      },
    );
  });

  it('knows discovery paths with and without a resource', () => {
    const paths = [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource/mcp/bowline-self',
      '/mcp/bowline-self/.well-known/openid-configuration',
      '/.well-known',
      '/mcp/bowline-self',
      '/agents',
    ];
    assert.deepStrictEqual(paths.map(isDiscoveryPath), [true, true, true, true, false, false]);
  });

  it('reads bearer tokens', () => {
    const read = [undefined, '', 'Bearer', 'Bearer ', 'Bearer a', 'bearer  a ', 'Basic a', 'Bearer a b', 'aBearer b'];
    assert.deepStrictEqual(read.map(bearerToken), [
      undefined,
      undefined,
      undefined,
      undefined,
      'a',
      'a',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('compares secrets of any length', () => {
    assert.deepStrictEqual(
      [equalSecrets('abc', 'abc'), equalSecrets('abc', 'abd'), equalSecrets('abc', ''), equalSecrets('', '')],
      [true, false, false, true],
    );
  });
});
