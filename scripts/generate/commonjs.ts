/** The first lines of an ES module around generated CommonJS code, which calls `require` for its run-time helpers. */
export const COMMONJS_PRELUDE = `import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

`;
