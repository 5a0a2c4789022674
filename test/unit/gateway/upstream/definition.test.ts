import assert from 'node:assert/strict';
import {
  type UpstreamDefinition,
  upstreamDefinition,
  type UpstreamTarget,
} from '../../../../src/gateway/upstream/definition.ts';

const stdio: UpstreamTarget = {
  kind: 'stdio',
  command: 'lab-server',
  args: ['--quiet', 'a'],
  environment: { HOME: '/home/ada', LAB: '1' },
  directory: '/home/ada/work',
};
const http: UpstreamTarget = { kind: 'http', url: 'https://lab.example/mcp', headers: { 'X-Team': 'a', 'X-Lab': 'b' } };

describe('upstreamDefinition', () => {
  it('has a digest that follows what it says, not the order of its names', () => {
    const same = (one: UpstreamTarget, other: UpstreamTarget): boolean => digest(one) === digest(other);
    assert.deepStrictEqual(
      {
        environmentOrder: same(stdio, { ...stdio, environment: { LAB: '1', HOME: '/home/ada' } }),
        headerOrder: same(http, { ...http, headers: { 'X-Lab': 'b', 'X-Team': 'a' } }),
        argumentOrder: same(stdio, { ...stdio, args: ['a', '--quiet'] }),
        otherArgument: same(stdio, { ...stdio, args: ['--quiet', 'b'] }),
        otherVariable: same(stdio, { ...stdio, environment: { HOME: '/home/ada', LAB: '2' } }),
        otherTransport: same(http, { ...http, kind: 'sse' }),
      },
      {
        environmentOrder: true,
        headerOrder: true,
        argumentOrder: false,
        otherArgument: false,
        otherVariable: false,
        otherTransport: false,
      },
    );
  });

  it('holds the target beside the digest', () => {
    const { digest: _digest, ...target }: UpstreamDefinition = upstreamDefinition(stdio);
    assert.deepStrictEqual(target, stdio);
  });
});

function digest(target: UpstreamTarget): string {
  return upstreamDefinition(target).digest;
}
