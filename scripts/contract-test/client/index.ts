/**
 * What contract tests and the project's other tests share: an HTTP client that checks responses against the contract, the
 * contract itself, and images.
 */

export * from './client.js';
export * from './conformance.js';
export * from './document.js';
export * from './exchange.js';
export * from './image-builders.js';
export * from './images.js';
export * from './limits.js';
