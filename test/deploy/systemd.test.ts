import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { findCommand } from '../../scripts/services/programs.js';
import { temporaryDirectory } from '../support/stores.js';

const UNIT = join('scripts', 'deploy', 'social-posting.service');

/** The exposure level in tenths, from 0 (least exposed) to 100 (most exposed). A unit without restrictions has 96. */
const MAX_EXPOSURE = 15;

const needsSystemd = { skip: !findCommand('systemd-analyze') && 'needs systemd-analyze: apt-get install systemd' };

const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args);

t.test('the unit is valid', needsSystemd, async (t) => {
  // The unit names the program of a package, which this machine may not have.
  const copy = join(await temporaryDirectory(t), 'social-posting.service');
  await writeFile(copy, (await readFile(UNIT, 'utf8')).replaceAll('/usr/bin/node', process.execPath));
  const { stdout, stderr } = await analyze('verify', '--man=no', copy);
  t.equal(stdout + stderr, '', 'unknown settings would be warnings');
});

t.test('the unit is confined', needsSystemd, async (t) => {
  await t.resolves(analyze('security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, UNIT));
});
