import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { interruption } from './processes.js';
import type { BenchRequest } from './workloads.js';

export const hasWrk = () => spawnSync('wrk', ['--version']).error === undefined;

export interface LoadResult {
  /** The number of responses with a 2xx status, and how many there were per second. */
  succeeded: number;
  rate: number;
  /** Percentiles of their latencies, in milliseconds. */
  p50: number;
  p99: number;
  /** The number of other outcomes, by kind. */
  failures: Record<string, number>;
  /** The CPU time of the load generator as a share of one core. */
  generatorCpu: number;
}

/** Repeats requests with wrk (https://github.com/wg/wrk), on a number of connections with one request in flight each. */
export async function runWrk(
  url: string,
  requests: readonly BenchRequest[],
  inFlight: number,
  seconds: number,
  folder: string,
): Promise<LoadResult> {
  const script = join(folder, 'requests.lua');
  const bodyFile = join(folder, 'request-body');
  await writeFile(bodyFile, requests[0]?.body ?? '');
  await writeFile(script, wrkScript(requests, bodyFile));
  const args = ['-t1', `-c${inFlight}`, `-d${seconds}s`, '--timeout=30s', `--script=${script}`, url];
  const { stdout } = await promisify(execFile)('wrk', args, { signal: interruption.signal });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** JSON quotes printable ASCII text as Lua does. All bodies are the same. */
function wrkScript(requests: readonly BenchRequest[], bodyFile: string): string {
  const lines = requests.map(({ method, path, headers, body }) => {
    const fields = Object.entries(headers).map(
      ([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    );
    return `wrk.format("${method}", ${JSON.stringify(path)}, { ${fields.join(', ')} }, ${body ? 'body' : 'nil'})`;
  });
  return `
local requests, last = {}, 0
function init()
  local body = io.open(${JSON.stringify(bodyFile)}, "rb"):read("*a")
  ${lines.map((line) => `requests[#requests + 1] = ${line}`).join('\n  ')}
end
function request()
  last = last % #requests + 1
  return requests[last]
end
function done(summary, latency)
  local seconds, failures = summary.duration / 1e6, {}
  for _, name in ipairs({ "status", "connect", "read", "write", "timeout" }) do
    local count = summary.errors[name]
    if count > 0 then failures[#failures + 1] = string.format('"%s":%d', name, count) end
  end
  local succeeded = summary.requests - summary.errors.status
  print(string.format('{"succeeded":%d,"rate":%f,"p50":%f,"p99":%f,"failures":{%s},"generatorCpu":%f}',
    succeeded, succeeded / seconds, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    table.concat(failures, ","), os.clock() / seconds))
end
`;
}
