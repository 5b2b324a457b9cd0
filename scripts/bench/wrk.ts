import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchRequest, Load, LoadResult } from './load.js';
import { interruption } from './processes.js';

/** Sends the load with wrk (https://github.com/wg/wrk), for a whole number of seconds. */
export async function runWrk({ url, connections, seconds }: Load): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'wrk-'));
  try {
    const script = join(folder, 'requests.lua');
    await writeFile(script, wrkScript(connections));
    const duration = `-d${Math.max(1, Math.round(seconds))}s`;
    const args = ['-t1', `-c${connections.length}`, duration, '--timeout=30s', `--script=${script}`, url];
    const { stdout } = await promisify(execFile)('wrk', args, { signal: interruption.signal });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Returns a script that sends the first request of each connection, then the second of each, and so on. wrk does not assign
 * requests to connections; in this order, consecutive requests are meant for different connections.
 */
function wrkScript(connections: Load['connections']): string {
  const positions = [...Array(Math.max(...connections.map(({ length }) => length))).keys()];
  const requests = positions.flatMap((position) => connections.flatMap((list) => list[position] ?? []));
  return `
local requests, last = {}, 0
function init()
  ${requests.map((request) => `requests[#requests + 1] = ${luaRequest(request)}`).join('\n  ')}
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

/** JSON quotes printable ASCII text as Lua does. */
function luaRequest({ method, path, headers, body }: BenchRequest): string {
  const fields = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const quoted = [method, path].map((text) => JSON.stringify(text)).join(', ');
  return `wrk.format(${quoted}, { ${fields.join(', ')} }, ${body === undefined ? 'nil' : JSON.stringify(body)})`;
}
