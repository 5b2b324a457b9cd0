import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A series in the result of a query: the Unix time in seconds, and the value as text. */
interface Series {
  value: [number, string];
}

/** Starts a program of the Prometheus project on a free port, and waits until it listens. */
export async function startListening(program: string, args: readonly string[]) {
  const child = spawn(program, [...args, '--web.listen-address=127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  let log = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += chunk;
      const [, found] = /"Listening on" address=(\S+)/.exec(log) ?? [];
      if (found) resolve(found);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${program} did not start:\n${log}`)));
  });
  return {
    url: `http://${address}`,
    async stop() {
      child.kill();
      await closed;
    },
  };
}

/** Starts Prometheus, which scrapes operations servers every second and keeps its data in the directory. */
export async function startPrometheus(directory: string, opsUrls: readonly string[]) {
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [
      { job_name: 'social-posting', static_configs: [{ targets: opsUrls.map((url) => new URL(url).host) }] },
    ],
  };
  const path = join(directory, 'prometheus.json');
  await writeFile(path, JSON.stringify(config));
  const { url, stop } = await startListening('prometheus', [
    `--config.file=${path}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
  ]);
  // It listens before it has read its data.
  while (!(await fetch(`${url}/-/ready`)).ok) await sleep(100);
  return {
    /** Throws if Prometheus rejects the query. */
    async query(expr: string): Promise<Series[]> {
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`);
      const { error, data } = (await response.json()) as { error?: string; data?: { result: Series[] } };
      if (!data) throw new Error(`${error}: ${expr}`);
      return data.result;
    },
    stop,
  };
}
