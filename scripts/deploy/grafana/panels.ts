import { readFileSync } from 'node:fs';

export interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  /** Present unless the panel is a row. */
  fieldConfig?: { defaults: { unit: string; max?: number } };
  targets?: { refId: string; expr: string; legendFormat: string }[];
  /** Present if the panel is a row. Only a collapsed row contains its panels. */
  collapsed?: boolean;
  panels?: Panel[];
}

/** Returns the rows and panels of the dashboard. Those of collapsed rows are nested. */
export const readDashboard = (): Panel[] =>
  JSON.parse(readFileSync('scripts/deploy/grafana/dashboard.json', 'utf8')).panels;

/** Returns an expression with the value of Grafana's variable, a range like `1m`. */
export const withRateInterval = (expr: string, interval: string): string =>
  expr.replaceAll('$__rate_interval', interval);
