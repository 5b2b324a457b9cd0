import { build } from 'esbuild';

/**
 * Turns generated CommonJS into one ES module without imports: the small run-time helpers that it requires are taken in.
 * `exported` refers to the module's exports as `v`.
 */
export async function bundle(code: string, exported: string): Promise<string> {
  const result = await build({
    stdin: { contents: `import v from 'generated:code';\n${exported}`, resolveDir: process.cwd(), loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'node20',
    mainFields: ['main'],
    legalComments: 'none',
    plugins: [
      {
        name: 'generated-code',
        setup(setup) {
          setup.onResolve({ filter: /^generated:code$/ }, ({ path }) => ({ path, namespace: 'generated' }));
          setup.onLoad({ filter: /.*/, namespace: 'generated' }, () => ({
            contents: code,
            loader: 'js',
            resolveDir: process.cwd(),
          }));
        },
      },
    ],
  });
  const [file] = result.outputFiles;
  if (!file) throw new Error('esbuild gave no output');
  return file.text;
}
