import { Argument } from 'commander';
import { createCommand, runCommand } from '../support/command.js';
import { down, startServer, stopServer } from './control.js';
import { run } from './run.js';
import { SERVER_NAMES, type ServerName } from './state.js';
import { up } from './up.js';
import { exportStatements } from './variables.js';

// As root, PostgreSQL runs as another user, who must be able to read the files. Files with secrets get stricter modes.
process.umask(0o022);
const command = createCommand(
  'services',
  'Starts and stops PostgreSQL, Neo4j, S3 and Redis, with files in .services or in the folder SERVICES_DIR.',
);
command
  .command('up')
  .description('starts servers that are not running, and prints the variables: eval "$(npm run -s services -- up)"')
  .action(async () => console.log(exportStatements(await up())));
command
  .command('down')
  .description('stops all servers')
  .option('--purge', 'also deletes the folder')
  .action(({ purge }: { purge?: boolean }) => down(SERVER_NAMES, purge));
command
  .command('run')
  .description('runs a command with the variables set, then stops the servers that it started')
  .usage('-- <command>')
  .argument('<command...>')
  .action(async (words: string[]) => {
    process.exitCode = await run(words);
  });
for (const [name, action] of Object.entries({ stop: stopServer, start: startServer })) {
  command
    .command(name)
    .description(`${name}s one server`)
    .addArgument(new Argument('<name>').choices(SERVER_NAMES))
    .action((server: ServerName) => action(server));
}
await runCommand(command);
process.exit();
