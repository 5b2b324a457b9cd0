import { spawnSync } from 'node:child_process';

/** Test options that skip a test if a program is not installed. The message names its Debian package. */
export const needsProgram = (program: string, debianPackage = program) => ({
  skip:
    spawnSync(program, ['--version']).error !== undefined &&
    `needs ${program}: apt-get install --no-install-recommends ${debianPackage}`,
});
