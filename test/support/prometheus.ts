import assert from 'node:assert/strict';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Matches a sample. prom-client writes `Nan`, which Prometheus accepts. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|[+-]Inf|NaN|Nan)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g;
const SUFFIX = /_(?:bucket|sum|count)$/;

/** A strict parser of the Prometheus text format 0.0.4. Throws if the text is not valid. */
export class Exposition {
  readonly samples: Sample[] = [];
  readonly types = new Map<string, string>();

  constructor(text: string) {
    assert.ok(text.endsWith('\n'), 'The last line must end with a line feed');
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? [];
      if (type) {
        assert.ok(!this.types.has(name), `${name} must have only one type`);
        this.types.set(name, type);
      } else if (!/^# HELP \S+ \S/.test(line)) {
        this.samples.push(this.#parseSample(line));
      }
    }
    const series = this.samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]));
    assert.equal(new Set(series).size, series.length, 'A series must not be repeated');
  }

  #parseSample(line: string): Sample {
    const [, name = '', list = '', value = ''] = LINE.exec(line) ?? assert.fail(line);
    const labels = [...list.matchAll(LABEL)];
    assert.equal(labels.map(([text]) => text).join(''), list, line);
    const family = this.types.get(name) ?? this.types.get(name.replace(SUFFIX, ''));
    assert.ok(family, `${name} must have a type`);
    return {
      name,
      labels: Object.fromEntries(labels.map(([, label, text]) => [label, text])),
      value: Number(value.replace('Inf', 'Infinity')),
    };
  }

  /** Returns the sum of all samples with this name and these labels, or undefined if there are none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    );
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }
}

/** Reads the metrics of a service from its operations server. */
export const scrape = async (opsUrl: string, init?: RequestInit) =>
  new Exposition(await (await fetch(`${opsUrl}/metrics`, init)).text());
