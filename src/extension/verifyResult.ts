import type { AgentRow } from '../core/fleet/select.ts';

const namedAtMost = 5;

/** What came out of probing some agents, in one sentence. */
export function verifyResult(rows: readonly AgentRow[]): { readonly isGood: boolean; readonly sentence: string } {
  const bad = rows.filter(({ worst }) => worst !== 'bound' && worst !== 'off');
  const bound = rows.length - bad.length;
  const [only] = rows;
  if (bad.length === 0) {
    const who =
      rows.length === 1 && only !== undefined ? `${only.name} has its` : `All ${rows.length} agents have their`;
    return { isGood: true, sentence: `${who} tools.` };
  }
  const named = bad.slice(0, namedAtMost).map(({ name, worst }) => `${name} (${worst})`);
  const more = bad.length > namedAtMost ? ` and ${bad.length - namedAtMost} more` : '';
  return {
    isGood: false,
    sentence: `${bound} of ${rows.length} agents have their tools. Not so: ${named.join(', ')}${more}.`,
  };
}
