export default {
  api: { input: 'openapi.yaml', output: { target: 'client/client.ts', client: 'axios' } },
};
