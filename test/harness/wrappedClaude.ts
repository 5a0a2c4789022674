import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shellLine } from '../../src/core/claude/shellLine.ts';

/** How a start departs from what it was asked for. Empty: it does not. */
export interface StartBehaviour {
  /** Whole seconds before the real program takes the process over. */
  readonly delaySeconds?: number;
  /** `strip`: without the MCP configuration. `sed`: with a copy of the file that this expression of sed has changed. */
  readonly mcp?: 'strip' | { readonly sed: string };
  /** `strip`: without the settings file, and so without hooks. */
  readonly hooks?: 'strip';
  /** `strip`: without `--resume`. `session`: another conversation is resumed. */
  readonly conversation?: 'strip' | { readonly session: string };
}

/** A start that was seen: for whom, and the arguments as they were asked for, before anything was changed; line ends are spaces. */
export interface SeenStart {
  readonly agent: string;
  readonly launch: string;
  readonly arguments: readonly string[];
}

/**
 * A small sh script to be used as `claudePath`. It notes each start, changes it as a file beside it says, and then becomes
 * the real `claude` (exec: the process keeps its pid). So a launch can be made deaf, silent, slow or wrong without a change
 * in the product. By default it changes nothing. All its files are in the directory it is made in.
 */
export class WrappedClaude {
  private constructor(
    private readonly directory: string,
    /** The script's absolute path. */
    readonly program: string,
  ) {}

  /** Makes the script in `directory`, which is created if it is missing. `binary`: the real program. */
  static async create(directory: string, binary: string): Promise<WrappedClaude> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const program = path.join(directory, 'claude');
    await writeFile(program, script(directory, binary));
    await chmod(program, 0o755);
    return new WrappedClaude(directory, program);
  }

  /** From now on this agent's launches with (`resume`) or without (`fresh`) a conversation start like this. */
  async behave(agent: string, mode: 'fresh' | 'resume', behaviour: StartBehaviour): Promise<void> {
    const { delaySeconds = 0, mcp, hooks, conversation } = behaviour;
    const lines = [
      `delay=${delaySeconds}`,
      ...(mcp === undefined ? [] : mcp === 'strip' ? ['mcp=strip'] : ['mcp=sed', `sed=${shellLine([mcp.sed])}`]),
      ...(hooks === undefined ? [] : ['hooks=strip']),
      ...(conversation === undefined
        ? []
        : [`conversation=${conversation === 'strip' ? 'strip' : shellLine([conversation.session])}`]),
    ];
    const file = path.join(this.directory, `${agent}.${mode}`);
    await writeFile(`${file}.new`, `${lines.join('\n')}\n`);
    await rename(`${file}.new`, file);
  }

  /** All starts so far, oldest first. */
  async starts(): Promise<readonly SeenStart[]> {
    const text = await readFile(path.join(this.directory, 'starts'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [agent = '', launch = '', ...words] = line.split('\t');
        return { agent, launch, arguments: words };
      });
  }
}

function script(directory: string, binary: string): string {
  return `#!/bin/sh
here=${shellLine([directory])}
agent=\${BOWLINE_AGENT-}
line=$(printf '%s\\t' "$agent" "\${BOWLINE_LAUNCH-}" "$@" | tr '\\n' ' ')
printf '%s\\n' "\${line%?}" >>"$here/starts"
mode=fresh
for word do
  case $word in --resume=*) mode=resume ;; esac
done
delay=0 mcp= sed= hooks= conversation=
if [ -f "$here/$agent.$mode" ]; then . "$here/$agent.$mode"; fi
if [ "$delay" -gt 0 ]; then sleep "$delay"; fi
for word do
  shift
  case $word in
    --mcp-config=*)
      case $mcp in
        strip) continue ;;
        sed)
          umask 077
          sed -e "$sed" "\${word#--mcp-config=}" >"$here/$agent.mcp.json"
          word=--mcp-config=$here/$agent.mcp.json
          ;;
      esac ;;
    --settings=*) if [ "$hooks" = strip ]; then continue; fi ;;
    --resume=*)
      case $conversation in
        '') ;;
        strip) continue ;;
        *) word=--resume=$conversation ;;
      esac ;;
  esac
  set -- "$@" "$word"
done
exec ${shellLine([binary])} "$@"
`;
}
