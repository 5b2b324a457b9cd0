import { neo4j } from './neo4j.js';
import { postgres } from './postgres.js';
import { redis } from './redis.js';
import { s3 } from './s3.js';
import type { Server } from './server.js';
import type { ServerName } from './state.js';

export const servers: Record<ServerName, Server> = { postgres, neo4j, s3, redis };
