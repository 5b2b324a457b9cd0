import type { FastifyBaseLogger } from 'fastify';
import type { AdminContext, Signed } from '../../handlers/admin/action.js';
import { type AdminRoutes, buildControlServer } from '../../handlers/control.js';

/** Creates a control server for the actions of the operator, and returns functions that send requests to it. */
export function createAdmin(context: AdminContext & { log: FastifyBaseLogger }) {
  const server = buildControlServer({ admin: context }, context.log);
  const inject = <Path extends keyof AdminRoutes>(path: Path, body: AdminRoutes[Path]['Body'] & Partial<Signed>) => {
    const payload = { operator: 'tester', ...body };
    const payloadAsStream = path === 'accounts/export' || path === 'posts/image';
    return server.inject({ method: 'POST', url: `/admin/${path}`, payload, payloadAsStream });
  };
  return {
    /** Runs an action, and returns its result. @throws an error with the status as its code and the message of any response but 200 */
    async act<Path extends keyof AdminRoutes>(
      path: Path,
      body: AdminRoutes[Path]['Body'] & Partial<Signed>,
    ): Promise<AdminRoutes[Path]['Reply']> {
      const response = await inject(path, body);
      const result = response.json();
      if (response.statusCode === 200) return result;
      throw Object.assign(new Error(result.message), { code: String(response.statusCode) });
    },
    /** Returns the archive as it arrives. */
    exportArchive: async (account: string) => (await inject('accounts/export', { account })).stream(),
    /** Returns the image of a post as it arrives. */
    readImage: async (post: string) => (await inject('posts/image', { post })).stream(),
  };
}
