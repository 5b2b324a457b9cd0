import type { Command } from 'commander';
import { misspelledVariables } from '../../handlers/config/warnings.js';
import { createCommand } from './command.js';

/** Creates a command that reads the service's configuration. It first names the variables that seem to be misspelled. */
export const createServiceCommand = (name: string, description: string): Command =>
  createCommand(name, description).hook('preAction', () => {
    for (const line of misspelledVariables(process.env)) console.error(line);
  });
