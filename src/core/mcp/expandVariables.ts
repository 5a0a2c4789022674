/** Either the text with all its variables filled in, or the names of those that are not set. */
export type Expansion =
  | { readonly kind: 'expanded'; readonly text: string }
  | { readonly kind: 'missing'; readonly names: readonly string[] };

const variable = /\$\{([^}]+)\}/g;

/** Fills in `${NAME}` and `${NAME:-default}` as Claude does: a variable that is set but empty counts as set. */
export function expandVariables(text: string, environment: Readonly<Record<string, string>>): Expansion {
  const missing: string[] = [];
  const expanded = text.replace(variable, (whole, content: string) => {
    const at = content.indexOf(':-');
    const name = at === -1 ? content : content.slice(0, at);
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined) return value;
    if (at !== -1) return content.slice(at + 2);
    missing.push(name);
    return whole;
  });
  return missing.length === 0 ? { kind: 'expanded', text: expanded } : { kind: 'missing', names: missing };
}
