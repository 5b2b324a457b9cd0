/** The beginning of an ES module that holds generated CommonJS: its run-time helpers come from their packages. */
export const COMMONJS = `import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

`;
