import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  type CreateMessageRequest,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  type PromptMessage,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  type Tool,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Content = CallToolResult['content'][number];
type Input = Readonly<Record<string, unknown>>;

interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: Tool['inputSchema'];
  run(input: Input, extra: Extra): Promise<readonly Content[]> | readonly Content[];
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==';

const words = (text: string): Content => ({ type: 'text', text });
const image: Content = { type: 'image', data: png, mimeType: 'image/png' };
const delay = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Between two steps of a tool that reports what it does; the scenarios want about this. */
const stepMs = 50;

const tools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    description: 'Answers with text.',
    run: () => [words('This is a simple text response for testing.')],
  },
  test_image_content: { description: 'Answers with an image.', run: () => [image] },
  test_audio_content: {
    description: 'Answers with sound.',
    run: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    run: () => [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  },
  test_multiple_content_types: {
    description: 'Answers with text, an image and a resource.',
    run: () => [
      words('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  },
  test_tool_with_logging: {
    description: 'Logs three lines while it runs.',
    run: async (_, extra) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
        await delay(stepMs);
      }
      return [words('Three lines were logged.')];
    },
  },
  test_error_handling: {
    description: 'Always fails.',
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_progress: {
    description: 'Tells its progress.',
    run: async (_, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
        }
        await delay(stepMs);
      }
      return [words('Done in three steps.')];
    },
  },
  test_sampling: {
    description: 'Asks the model of the client.',
    inputSchema: wants('prompt'),
    run: async (input, extra) => {
      const params: CreateMessageRequest['params'] = {
        messages: [{ role: 'user', content: { type: 'text', text: String(input['prompt']) } }],
        maxTokens: 100,
      };
      const { content } = await extra.sendRequest(
        { method: 'sampling/createMessage', params },
        CreateMessageResultSchema,
      );
      return [words(`LLM response: ${content.type === 'text' ? content.text : JSON.stringify(content)}`)];
    },
  },
  test_elicitation: {
    description: 'Asks the person.',
    inputSchema: wants('message'),
    run: async (input, extra) => [
      words(
        `User response: ${await elicit(extra, String(input['message']), {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        })}`,
      ),
    ],
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with a default of every primitive type.',
    run: async (_, extra) => [
      words(
        `Elicitation completed: ${await elicit(extra, 'Is this right?', {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
        })}`,
      ),
    ],
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks for each kind of choice.',
    run: async (_, extra) => [
      words(
        `Elicitation completed: ${await elicit(extra, 'Which ones?', {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
            titledSingle: { type: 'string', oneOf: titled('value', ['First Option', 'Second Option', 'Third Option']) },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
            titledMulti: {
              type: 'array',
              items: { anyOf: titled('value', ['First Choice', 'Second Choice', 'Third Choice']) },
            },
          },
        })}`,
      ),
    ],
  },
  test_reconnection: {
    description: 'Closes its stream before it answers; the answer waits for the client to come back.',
    run: async (_, extra) => {
      extra.closeSSEStream?.();
      await delay(2 * stepMs);
      return [words('Answered after the stream was closed.')];
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (input) => [words(JSON.stringify(input))],
  },
};

const prompts: Readonly<Record<string, { readonly inputs: readonly string[]; say(input: Input): PromptMessage[] }>> = {
  test_simple_prompt: { inputs: [], say: () => [asks(words('This is a simple prompt for testing.'))] },
  test_prompt_with_arguments: {
    inputs: ['arg1', 'arg2'],
    say: ({ arg1, arg2 }) => [asks(words(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`))],
  },
  test_prompt_with_embedded_resource: {
    inputs: ['resourceUri'],
    say: ({ resourceUri }) => [
      asks({
        type: 'resource',
        resource: {
          uri: String(resourceUri),
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      asks(words('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    inputs: [],
    say: () => [asks(image), asks(words('Please analyze the image above.'))],
  },
};

const resources: Readonly<Record<string, { mimeType: string } & ({ text: string } | { blob: string })>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'This one is watched.' },
};

/**
 * An MCP server (sdk 1.x) with everything that the server scenarios of @modelcontextprotocol/conformance 0.2.0-alpha.12
 * ask for at 2025-11-25, by the requirements in their own descriptions; the package does not ship one.
 */
export function createFixtureServer(): McpServer['server'] {
  const { server } = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} } },
  );
  const subscribed = new Set<string>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema = { type: 'object' as const } }]) => ({
      name,
      description,
      inputSchema,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const tool = tools[params.name];
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    try {
      return { content: [...(await tool.run(params.arguments ?? {}, extra))] };
    } catch (error) {
      return { content: [words(error instanceof Error ? error.message : String(error))], isError: true };
    }
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, { inputs }]) => ({
      name,
      description: `The prompt ${name}.`,
      arguments: inputs.map((input) => ({ name: input, description: `The argument ${input}.`, required: true })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}.`);
    return { messages: prompt.say(params.arguments ?? {}) };
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      ...{ uri, name: uri.slice('test://'.length), mimeType },
      description: `The resource ${uri}.`,
    })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'Data of an id.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const resource = resources[uri];
    if (resource !== undefined) return { contents: [{ uri, ...resource }] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) throw new McpError(ErrorCode.InvalidParams, 'Resource not found', { uri });
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  return server;
}

async function elicit(
  extra: Extra,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
): Promise<string> {
  const { action, content } = await extra.sendRequest(
    { method: 'elicitation/create', params: { message, requestedSchema } },
    ElicitResultSchema,
  );
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

function titled(prefix: string, titles: readonly string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `${prefix}${index + 1}`, title }));
}

function wants(name: string): Tool['inputSchema'] {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

function asks(content: Content): PromptMessage {
  return { role: 'user', content };
}
