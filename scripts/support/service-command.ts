import type { Command } from 'commander';
import { loadSecretFiles } from '../../handlers/config/secret-files.js';
import { misspelledVariables } from '../../handlers/config/warnings.js';
import { createCommand } from './command.js';

/**
 * Creates a command that reads the service's configuration. It first names the variables that seem to be misspelled, and reads
 * the files with secrets.
 */
export const createServiceCommand = (name: string, description: string): Command =>
  createCommand(name, description).hook('preAction', () => {
    for (const line of misspelledVariables(process.env)) console.error(line);
    loadSecretFiles(process.env);
  });
