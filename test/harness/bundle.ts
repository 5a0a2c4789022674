import { build, type Plugin } from 'esbuild';

/** Programs of a test: what goes in, and where the bundles go. */
export interface Programs {
  readonly entryPoints: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly plugins?: readonly Plugin[];
}

/** Bundles programs for Node as the build does, without node-pty. */
export async function bundlePrograms({ entryPoints, directory, plugins = [] }: Programs): Promise<void> {
  await build({
    entryPoints: { ...entryPoints },
    outdir: directory,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    external: ['node-pty'],
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    plugins: [...plugins],
  });
}
