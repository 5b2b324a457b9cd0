import { parseArgs } from 'node:util';
import { startServer, stopServer } from './control.js';
import { down } from './down.js';
import { ServicesError } from './errors.js';
import { run } from './run.js';
import { SERVER_NAMES, type ServerName } from './state.js';
import { status } from './status.js';
import { up } from './up.js';
import { exports } from './variables.js';

const USAGE = `npm run services -- COMMAND

  up             starts what is not up, and prints the variables:  eval "$(npm run -s services -- up)"
  down           stops everything; --purge deletes the folder as well
  status         says what is up; exit code 1 unless everything is
  run -- CMD…    runs a command with the variables set, and stops afterwards what it has started
  stop NAME      stops one server: ${SERVER_NAMES.join(', ')}
  start NAME     starts it again

Everything is kept in .services, or in the folder that SERVICES_DIR names.`;

/** Answers the exit code. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { purge: { type: 'boolean' } } });
  const [command, ...rest] = positionals;
  // What nobody else may read is made so; the rest is read by the user PostgreSQL runs as.
  process.umask(0o022);
  switch (command) {
    case 'up':
      console.log(exports(await up()));
      return 0;
    case 'down':
      await down(SERVER_NAMES, values.purge);
      return 0;
    case 'status':
      return (await status()) ? 0 : 1;
    case 'run':
      return run(rest);
    case 'start':
      await startServer(serverName(rest[0]));
      return 0;
    case 'stop':
      await stopServer(serverName(rest[0]));
      return 0;
    default:
      console.error(USAGE);
      return 2;
  }
}

function serverName(given: string | undefined): ServerName {
  const name = SERVER_NAMES.find((each) => each === given);
  if (!name) throw new ServicesError(`One of ${SERVER_NAMES.join(', ')} is needed, not ${given ?? 'nothing'}`);
  return name;
}

/** Wrong arguments and what can be mended are said in their own words; all else is a fault, and keeps its stack. */
function explain(error: unknown): unknown {
  const badArguments =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
  return error instanceof ServicesError || badArguments ? error.message : error;
}

process.exit(
  await main(process.argv.slice(2)).catch((error) => {
    console.error(explain(error));
    return 1;
  }),
);
