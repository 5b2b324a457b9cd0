import { execFile } from 'node:child_process';
import { copyFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runCommand } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';

t.test('the packed contract tests run in an empty folder, without a network', async (t) => {
  const { code, output } = await runCommand(t, ['contract-test/pack'], {});
  t.equal(code, 0, output);
  const [, tarball = '', kilobytes] = /^(\S+\.tgz) {2}(\d+) kB$/m.exec(output) ?? [];
  t.ok(Number(kilobytes) < 200, output);

  const { stdout: files } = await promisify(execFile)('tar', ['tf', tarball]);
  const names = ['LICENSES.txt', 'README.md', 'contract-test.js', 'openapi.json', 'package.json'];
  const expected = names.map((name) => `package/${name}`);
  t.same(files.trim().split('\n').sort(), expected);

  const service = await startTestService(t);
  const folder = await temporaryDirectory(t);
  await copyFile(tarball, join(folder, basename(tarball)));
  // An empty cache shows that the package has no dependencies.
  const env = { PATH: process.env.PATH, npm_config_cache: await temporaryDirectory(t), npm_config_offline: 'true' };
  const onlyFlags = ['auth.me', 'likes.like', 'document.getCurrentAccount'].flatMap((id) => ['--only', id]);
  const args = ['--yes', `./${basename(tarball)}`, '--base-url', service.url, ...onlyFlags, '--junit', 'report.xml'];
  const { stdout, stderr } = await promisify(execFile)('npx', args, { cwd: folder, env });
  t.match(stderr, new RegExp(`^Contract \\d+\\.\\d+\\.\\d+ at ${service.url}`, 'm'));
  t.match(stdout, /^5 passed; \d+ requests/m);
  t.same((await readdir(folder)).sort(), ['report.xml', basename(tarball)].sort());
});
