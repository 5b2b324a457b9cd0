import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';

/** Wraps an exporter. Logs the start and the end of an outage of the receiver, but not each failed export. */
export function reportOutages(exporter: SpanExporter, log: Logger): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !failing) log.warn({ err: result.error }, 'traces cannot be exported');
        if (!failed && failing) log.info('traces are exported again');
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
