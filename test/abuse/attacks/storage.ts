import { ATTACKER } from '../addresses.js';
import { type Attack, imageOf, noErrors, otherStatuses } from '../attack.js';

const IMAGE_BYTES = 2 * 1024 * 1024;
const UPLOADS = 12;
const IMAGES_MAX = 4;

/** Concurrent uploads beyond the storage quota of an account. */
export const storage: Attack = {
  name: 'storage',
  title: '12 concurrent images of 2 MiB by an account with a quota of 8 MiB',
  variables: { ACCOUNT_STORAGE_MAX_BYTES: String(IMAGES_MAX * IMAGE_BYTES) },
  async run(target, { attacker: { token } }) {
    const image = imageOf(IMAGE_BYTES);
    const upload = () =>
      target.send('POST', '/posts/create', {
        from: ATTACKER,
        token,
        form: { title: 'T', text: 'T', image },
        signal: target.signal,
      });
    const statuses = (await Promise.all(Array.from({ length: UPLOADS }, upload))).map(({ status }) => status);
    return [
      { name: 'stored images', value: statuses.filter((status) => status === 201).length, atMost: IMAGES_MAX },
      otherStatuses(statuses, 201, 413),
    ];
  },
  evaluate: (measured) => [noErrors(measured)],
};
