export default {
  api: {
    input: 'openapi.yaml',
    output: {
      target: 'client/client.ts',
      client: 'fetch',
      override: { mutator: { path: 'request.ts', name: 'request' } },
    },
  },
};
