import assert from 'node:assert/strict';
import { type AgentFilter, filterAgents } from '../../../src/webview/filter.ts';
import { agent, endpoint, unbound } from './fleetViews.ts';

const rows = [
  agent('ada', { directory: '/work/shop' }),
  agent('bo', { endpoints: [unbound('gateway was away')] }),
  agent('cy', { life: 'blocked', detail: 'login needed: log in' }),
  agent('di', { life: 'dead', endpoints: [endpoint({ state: 'off' })] }),
  agent('ed', { activity: 'busy' }),
  agent('flo', { endpoints: [endpoint({ state: 'gateway down' })] }),
  agent('gus', { endpoints: [endpoint({ state: 'not checkable', client: 'claude-code 2.1.160' })] }),
  agent('hal', { directory: '/work/shop/front' }),
  agent('ida'),
];

function shown(filter: Partial<AgentFilter>): readonly string[] {
  return filterAgents(rows, { text: '', scope: 'all', ...filter }).map(({ name }) => name);
}

describe('filter of agents', () => {
  it('finds words in name, directory, life, state, cause, activity and client, in the order of the fleet', () => {
    const texts = ['', '  ', 'SHOP', 'shop front', 'unbound', 'login', 'busy', '2.1.160', 'gave up', 'nobody'];
    assert.deepStrictEqual(Object.fromEntries(texts.map((text) => [text, shown({ text }).join(' ')])), {
      '': 'ada bo cy di ed flo gus hal ida',
      '  ': 'ada bo cy di ed flo gus hal ida',
      SHOP: 'ada hal',
      'shop front': 'hal',
      unbound: 'bo',
      login: 'cy',
      busy: 'ed',
      '2.1.160': 'gus',
      'gave up': 'bo',
      nobody: '',
    });
  });

  it('narrows to those that need a person', () => {
    assert.deepStrictEqual(shown({ scope: 'attention' }), ['bo', 'cy', 'di', 'flo']);
    assert.deepStrictEqual(shown({ scope: 'attention', text: 'dead' }), ['di']);
  });

  it('does not act where it is not shown', () => {
    const few = rows.slice(0, 8);
    assert.equal(filterAgents(few, { text: 'nobody', scope: 'attention' }).length, 8);
  });
});
