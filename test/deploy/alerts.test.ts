import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { needsProgram } from '../support/processes.js';
import { Exposition, scrape } from '../support/prometheus.js';
import { selectorsOf, unknownNames } from '../support/promql.js';
import { sendTraffic, startTestService } from '../support/service.js';
import { startTlsProxy } from '../support/tls.js';
import { startOnFreePort } from './programs.js';

const DIRECTORY = 'scripts/deploy/prometheus';

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const read = (name: string) => readFileSync(`${DIRECTORY}/${name}`, 'utf8');
const rules: Rule[] = parse(read('alerts.yaml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);

/** Metrics of Prometheus and of blackbox_exporter. */
const METRICS_OF_OTHERS = /^(up$|probe_)/;

const needsPromtool = needsProgram('promtool', 'prometheus');

const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: DIRECTORY });

t.test('promtool accepts the configuration and the alerts, whose tests pass', needsPromtool, async (t) => {
  t.match((await promtool('check', 'config', 'prometheus.yaml')).stdout, 'SUCCESS: 1 rule files found');
  t.match((await promtool('check', 'rules', 'alerts.yaml')).stdout, `SUCCESS: ${rules.length} rules found`);
  t.match((await promtool('test', 'rules', 'alerts.test.yaml')).stdout, 'SUCCESS');
});

t.test('every alert has annotations, a test in which it fires and one in which it does not', async (t) => {
  const tests: { alert_rule_test: { alertname: string; exp_alerts?: { exp_labels: Record<string, string> }[] }[] }[] =
    parse(read('alerts.test.yaml')).tests;
  const cases = tests.flatMap((test) => test.alert_rule_test);
  for (const { alert, labels, annotations } of rules) {
    t.same(Object.keys(annotations), ['summary', 'description', 'runbook_url'], alert);
    t.match(annotations.runbook_url, '#', alert);
    t.ok(['critical', 'warning'].includes(labels.severity ?? ''), alert);
    const expected = cases.filter(({ alertname }) => alertname === alert).map(({ exp_alerts }) => exp_alerts);
    const severities = expected.flatMap((alerts = []) => alerts.map(({ exp_labels }) => exp_labels.severity));
    t.ok(severities.includes(labels.severity), `${alert} fires as ${labels.severity}`);
    t.ok(expected.includes(undefined), `${alert} does not always fire`);
  }
});

t.test('every alert names metrics and labels that a running service has', async (t) => {
  const service = await startTestService(t);
  await sendTraffic(service);
  const exposition = await scrape(service.opsUrl);
  for (const { alert, expr } of rules) t.same(unknownNames(expr, exposition, METRICS_OF_OTHERS), [], alert);
});

t.test(
  'blackbox_exporter reports the metrics of the site, even if it does not trust the certificate',
  needsProgram('prometheus-blackbox-exporter'),
  async (t) => {
    const { url } = await startTestService(t);
    const port = await startTlsProxy(t, new URL(url));
    const config = `--config.file=${DIRECTORY}/blackbox.yaml`;
    const exporterUrl = await startOnFreePort(t, 'prometheus-blackbox-exporter', [config]);
    const { scrape_configs } = parse(read('prometheus.yaml')) as {
      scrape_configs: { job_name: string; metrics_path: string; params: Record<string, string[]> }[];
    };
    const site = scrape_configs.find(({ job_name }) => job_name === 'site');
    const target = new URL(site?.params.target?.[0] ?? '');
    target.host = `127.0.0.1:${port}`;
    const parameters = { module: site?.params.module?.[0] ?? '', target: target.href, hostname: 'localhost' };
    const probed = await fetch(`${exporterUrl}${site?.metrics_path}?${new URLSearchParams(parameters)}`);
    const exposition = new Exposition(await probed.text());
    const names = rules.flatMap(({ expr }) => selectorsOf(expr).map(({ name }) => name));
    const siteMetrics = new Set(names.filter((name) => name.startsWith('probe_')));
    t.same([...siteMetrics], ['probe_success', 'probe_ssl_earliest_cert_expiry']);
    t.equal(exposition.value('probe_success'), 1);
    const expiry = new Date((exposition.value('probe_ssl_earliest_cert_expiry') ?? 0) * 1000);
    t.equal(expiry.getUTCFullYear(), 2126, 'the test certificate is valid until 2126');
  },
);
