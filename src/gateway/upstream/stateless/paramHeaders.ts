/** A parameter of a tool that its calls repeat in a header (MCP 2026-07-28, Custom Headers from Tool Parameters). */
export interface ParamHeader {
  readonly header: string;
  /** Where its value stands in the arguments. */
  readonly path: readonly string[];
}

const annotation = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~\w]+$/;
const types: readonly unknown[] = ['string', 'integer', 'boolean'];
const deepest = 64;
/** Keywords of JSON Schema that hold values, not schemas. */
const values: readonly string[] = ['const', 'default', 'enum', 'examples'];

/** The headers that an `inputSchema` asks for. A text says why the tool is invalid: no client may offer it then. */
export function paramHeadersOf(inputSchema: unknown): readonly ParamHeader[] | string {
  const found: ParamHeader[] = [];
  // A list of what is still to be looked at: a schema may be nested deeper than calls can be.
  const open: { readonly node: unknown; readonly path: readonly string[] | undefined }[] = [
    { node: inputSchema, path: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    if (!isObject(node)) continue;
    const header = node[annotation];
    const named = typeof header === 'string';
    // Behind anything but `properties` the same word may be the name of a property.
    if (header !== undefined && (named || path !== undefined)) {
      if (path === undefined || path.length === 0) return `${annotation} stands where no parameter is`;
      if (!named || !token.test(header)) return `${annotation} of "${path.join('.')}" is no name of a header`;
      if (!types.includes(node['type'])) return `${annotation} of "${path.join('.')}" is not of a plain type`;
      if (found.some((one) => one.header.toLowerCase() === header.toLowerCase())) {
        return `${annotation} ${header} is there twice`;
      }
      found.push({ header, path });
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'properties' && path !== undefined && path.length < deepest && isObject(child)) {
        for (const [name, schema] of Object.entries(child)) open.push({ node: schema, path: [...path, name] });
      } else if (!values.includes(key)) {
        open.push({ node: child, path: undefined });
      }
    }
  }
  return found;
}

/** `Mcp-Param-*` for a call with these arguments. */
export function paramHeaders(declared: readonly ParamHeader[], args: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    let value = args;
    for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      headers[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
    }
  }
  return headers;
}

/** A text as these headers carry it (Value Encoding). */
export function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
