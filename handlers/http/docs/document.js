/** A plugin for Swagger UI that makes it read the OpenAPI document faster. */
export const fastDocument = () => ({
  // Swagger UI's own resolver processes the whole document for each operation, which takes seconds on a phone.
  fn: { resolveSubtree: async (document, path) => ({ spec: resolveReferences(document, path), errors: [] }) },
  statePlugins: {
    spec: {
      wrapActions: {
        // Swagger UI would parse the JSON as YAML.
        parseToJson:
          (_, { specActions }) =>
          (text) =>
            specActions.updateJsonSpec(JSON.parse(text)),
      },
    },
  },
});

/** Returns a part of a document with all references, such as `#/components/schemas/Id`, resolved. Circular ones are not. */
function resolveReferences(document, path) {
  const read = (keys) => keys.reduce((value, key) => value?.[key], document);

  function resolve(value, ancestors) {
    if (Array.isArray(value)) return value.map((item) => resolve(item, ancestors));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...properties } = value;
    if (ancestors.includes($ref)) return value;
    const resolved = Object.fromEntries(
      Object.entries(properties).map(([key, item]) => [key, resolve(item, ancestors)]),
    );
    if ($ref === undefined) return resolved;
    // Swagger UI accepts a resolved object only if it contains the reference as `$$ref`.
    return { ...resolve(read($ref.split('/').slice(1)), [...ancestors, $ref]), ...resolved, $$ref: $ref };
  }

  return resolve(read(path), []);
}
