import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pathsIn } from '../../db/support/data-directory.js';
import { controlSocketPath } from '../../handlers/control.js';
import { CommandError, InUseError, UsageError } from './command-error.js';

/**
 * Sends a request to the service that has claimed the data directory. Returns its response, which has the status 200.
 *
 * @throws CommandError; InUseError if the service does not accept commands; UsageError if the service refused the argument
 */
export async function requestControl(dataDir: string, path: string, argument?: object): Promise<IncomingMessage> {
  const socketPath = controlSocketPath(pathsIn(dataDir).control);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, path, method: 'POST' }, resolve)
      .on('error', () =>
        reject(new InUseError(`${dataDir} is in use by a process that does not accept commands: try again later`)),
      )
      .end(argument && JSON.stringify(argument));
  });
  if (response.statusCode === 200) return response;
  const message = await text(response);
  if (response.statusCode === 400) throw new UsageError(message);
  if (response.statusCode === 409) throw new CommandError('Another backup is in progress: try again later');
  if (response.statusCode === 404) throw new CommandError('The service is of another version: restart it');
  throw new CommandError(message || `The service responded with ${response.statusCode}: see its log`);
}
