/*
 * Loaded into every test process before tap's own modules: see `tap` in package.json. To learn which files a test covers, tap
 * hooks into the loading of modules, in the test's process and in each Node process that it starts. It does so even when
 * coverage is disabled. Without this file, the hooks would double the start time of commands and services.
 */

const nodeModule = require('node:module');
const processOnSpawn = require('process-on-spawn');

const doNothing = () => undefined;
nodeModule.register = doNothing;
nodeModule.registerHooks = doNothing;
processOnSpawn.addListener = doNothing;
