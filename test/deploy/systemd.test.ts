import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { findCommand } from '../../scripts/services/programs.js';
import { temporaryDirectory } from '../support/stores.js';

const FOLDER = join('scripts', 'deploy');
const UNIT = 'social-posting@.service';
const TARGET = 'social-posting.target';

/** The exposure level in tenths, from 0 (least exposed) to 100 (most exposed). A unit without restrictions has 96. */
const MAX_EXPOSURE = 15;

const needsSystemd = { skip: !findCommand('systemd-analyze') && 'needs systemd-analyze: apt-get install systemd' };

const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args);

t.test('the units are valid', needsSystemd, async (t) => {
  const directory = await temporaryDirectory(t);
  // The unit names the program of a package, which this machine may not have.
  const unit = (await readFile(join(FOLDER, UNIT), 'utf8')).replaceAll('/usr/bin/node', process.execPath);
  await writeFile(join(directory, UNIT), unit);
  await copyFile(join(FOLDER, TARGET), join(directory, TARGET));
  for (const name of [TARGET, UNIT.replace('@', '@2')]) {
    const { stdout, stderr } = await analyze('verify', '--man=no', join(directory, name));
    t.equal(stdout + stderr, '', 'unknown settings would be warnings');
  }
});

t.test('the unit is confined', needsSystemd, async (t) => {
  await t.resolves(
    analyze('security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, join(FOLDER, UNIT)),
  );
});
