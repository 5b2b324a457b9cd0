/** The part of a CycloneDX document that is looked at. */
export interface Bom {
  bomFormat: string;
  specVersion: string;
  components: {
    name: string;
    version: string;
    licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  }[];
}

export interface LockFile {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

/** Licences that ask for no more than a notice, by their SPDX identifiers. */
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

/** The licence of a component as an SPDX expression; empty if it declares none. */
export const licenceOf = ({ licenses = [] }: Bom['components'][number]): string =>
  licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '').join(' AND ');

/** Whether an SPDX expression leaves a choice of permissive licences alone. Exceptions and nested choices are refused. */
export function isPermissive(expression: string): boolean {
  const choices = expression.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((licence) => PERMISSIVE.has(licence)));
}

/** Components whose licence is not permissive, or unknown. */
export const licenceProblems = ({ components }: Bom): string[] =>
  components
    .filter((component) => !isPermissive(licenceOf(component)))
    .map((component) => `${component.name}@${component.version}: licence ${licenceOf(component) || 'unknown'}`);

/** Packages with an install script that nobody has decided about: `allowScripts` of package.json has to name them. */
export function installScriptProblems({ packages }: LockFile, allowScripts: Record<string, boolean>): string[] {
  const names = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  return [...new Set(names)]
    .filter((name) => !(name in allowScripts))
    .map((name) => `${name}: has an install script that allowScripts in package.json does not name`);
}
