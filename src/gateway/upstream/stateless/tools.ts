import * as z from 'zod/mini';
import { parsed } from '../httpEvents.ts';
import { type ParamHeader, paramHeaders, paramHeadersOf } from './paramHeaders.ts';
import { withResult } from './results.ts';

const toolSchema = z.looseObject({
  name: z.string(),
  inputSchema: z.exactOptional(z.unknown()),
  outputSchema: z.exactOptional(z.unknown()),
});

type Tool = z.infer<typeof toolSchema>;

const listSchema = z.object({
  result: z.looseObject({
    tools: z.array(toolSchema),
    nextCursor: z.exactOptional(z.string()),
  }),
});

/** What must be known of an upstream's tools to call them, from the lists that it gave. */
export class KnownTools {
  private readonly headers = new Map<string, readonly ParamHeader[]>();

  /** `left`: a tool that no client may offer, and why. */
  constructor(private readonly left: (tool: string, reason: string) => void) {}

  /**
   * Reads an answer to `tools/list`, and gives it without what clients of older revisions cannot take: tools whose
   * headers are invalid, and an `outputSchema` that is of no object. One page of several; `nextCursor` names the next.
   */
  read(text: string): { readonly text: string; readonly nextCursor: string | undefined } {
    const result = listSchema.safeParse(parsed(text)).data?.result;
    if (result === undefined) return { text, nextCursor: undefined };
    const tools = result.tools.flatMap((tool) => this.known(tool) ?? []);
    const isSame = tools.length === result.tools.length && tools.every((tool, index) => tool === result.tools[index]);
    return { text: isSame ? text : withResult(text, { ...result, tools }), nextCursor: result.nextCursor };
  }

  /** Headers of a call, whose text is given. */
  headersFor(tool: string | undefined, call: Buffer): Readonly<Record<string, string>> {
    const declared = tool === undefined ? undefined : this.headers.get(tool);
    if (declared === undefined) return {};
    return paramHeaders(declared, callSchema.safeParse(parsed(call.toString('utf8'))).data?.params.arguments);
  }

  /** The tool as older revisions know it; undefined: not at all. */
  private known(tool: Tool): Tool | undefined {
    const headers = paramHeadersOf(tool.inputSchema);
    if (typeof headers === 'string') {
      this.left(tool.name, headers);
      return undefined;
    }
    if (headers.length > 0) this.headers.set(tool.name, headers);
    else this.headers.delete(tool.name);
    const { outputSchema, ...others } = tool;
    return outputSchema === undefined || isOfObject(outputSchema) ? tool : others;
  }
}

const callSchema = z.object({ params: z.object({ arguments: z.exactOptional(z.unknown()) }) });

function isOfObject(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object';
}
