import { parseArgs } from 'node:util';
import { runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { table } from '../support/table.js';
import { down, isReady, requireState, startServer, stopServer } from './control.js';
import { isAlive } from './processes.js';
import { run } from './run.js';
import { servers } from './servers.js';
import { SERVER_NAMES, type ServerName } from './state.js';
import { up } from './up.js';
import { exportStatements } from './variables.js';

const USAGE = `npm run services -- COMMAND

  up             starts servers that are not running and prints the variables:  eval "$(npm run -s services -- up)"
  down           stops all servers; --purge also deletes the folder
  status         lists the servers; exits with 1 unless all respond
  run -- CMD…    runs a command with the variables set, then stops the servers that it started
  stop NAME      stops one server: ${SERVER_NAMES.join(', ')}
  start NAME     starts one server that was stopped

Downloads and data are in .services, or in the folder SERVICES_DIR.`;

/** Runs a command and returns the exit code. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { purge: { type: 'boolean' } } });
  const [command, ...rest] = positionals;
  // As root, PostgreSQL runs as another user, who must be able to read the files. Files with secrets get stricter modes.
  process.umask(0o022);
  switch (command) {
    case 'up':
      console.log(exportStatements(await up()));
      return 0;
    case 'down':
      await down(SERVER_NAMES, values.purge);
      return 0;
    case 'status':
      return (await printStatus()) ? 0 : 1;
    case 'run':
      return run(rest);
    case 'start':
      await startServer(parseServerName(rest[0]));
      return 0;
    case 'stop':
      await stopServer(parseServerName(rest[0]));
      return 0;
    default:
      console.error(USAGE);
      return 2;
  }
}

/** Prints the servers as a table. Returns whether all respond. */
async function printStatus(): Promise<boolean> {
  const state = requireState();
  const rows = await Promise.all(
    SERVER_NAMES.map(async (name) => {
      const running = state.servers[name];
      const alive = isAlive(running);
      return {
        name,
        version: `${servers[name].title} ${running?.version ?? ''}`.trim(),
        address: `127.0.0.1:${state.ports[name]}`,
        pid: alive ? `${running?.pid}` : '',
        state: !alive ? 'down' : (await isReady(state, name)) ? 'up' : 'no response',
      };
    }),
  );
  console.log(table(rows));
  return rows.every((row) => row.state === 'up');
}

function parseServerName(argument: string | undefined): ServerName {
  const name = SERVER_NAMES.find((each) => each === argument);
  if (!name) throw new CommandError(`Expected one of ${SERVER_NAMES.join(', ')}, not ${argument ?? 'nothing'}`);
  return name;
}

await runCommand(async () => {
  process.exitCode = await main(process.argv.slice(2));
});
process.exit();
