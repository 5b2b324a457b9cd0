/** A plugin of Swagger UI that reads the document faster. */
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

/** Returns a part of a document with its references resolved. They must be local. A circular one is left in place. */
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
    // Swagger UI replaces a reference only with an object that has `$$ref`.
    return { ...resolve(read(readPointer($ref)), [...ancestors, $ref]), ...resolved, $$ref: $ref };
  }

  return resolve(read(path), []);
}

/** Returns the keys of a JSON pointer in a fragment (RFC 6901 section 6). */
function readPointer(reference) {
  const keys = decodeURIComponent(reference).split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
