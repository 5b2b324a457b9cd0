import { register } from 'node:module';

/* Preloaded by `node --import`: makes every import of an OpenTelemetry package fail. */

const hook = `
  export async function resolve(name, context, next) {
    if (name.startsWith('@opentelemetry/')) throw new Error('refused: ' + name);
    return next(name, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
