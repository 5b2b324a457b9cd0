/** The part of a CycloneDX document that the checks read. */
export interface Bom {
  bomFormat: string;
  components: {
    name: string;
    version: string;
    licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  }[];
}

interface LockFile {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

/** SPDX identifiers of licenses that require at most a notice. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

/** Returns the license of a component, usually an SPDX expression, or an empty string if it declares none. */
export const licenseOf = ({ licenses = [] }: Bom['components'][number]): string =>
  licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '').join(' AND ');

/**
 * Returns whether at least one alternative of an SPDX expression consists only of permissive licenses. Returns false for
 * expressions with parentheses, except around the whole expression. A license with `WITH` does not count as permissive.
 */
export function isPermissive(expression: string): boolean {
  const withoutOuterPair = expression.replace(/^\(([^()]*)\)$/, '$1');
  if (/[()]/.test(withoutOuterPair)) return false;
  const alternatives = withoutOuterPair.split(' OR ');
  return alternatives.some((alternative) => alternative.split(' AND ').every((license) => PERMISSIVE.has(license)));
}

/** Returns a problem for each component whose license is unknown or not permissive. */
export const licenseProblems = ({ components }: Bom): string[] =>
  components
    .filter((component) => !isPermissive(licenseOf(component)))
    .map((component) => `${component.name}@${component.version}: license ${licenseOf(component) || 'unknown'}`);

/** Returns a problem for each package that has an install script and is not listed in `allowScripts` in package.json. */
export function installScriptProblems({ packages }: LockFile, allowScripts: Record<string, boolean>): string[] {
  const names = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  return [...new Set(names)]
    .filter((name) => !(name in allowScripts))
    .map((name) => `${name}: has an install script, but is not listed in allowScripts in package.json`);
}
