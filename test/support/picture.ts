import { samples } from '../../scripts/contract-test/images.js';

type ImageType = Exclude<keyof typeof samples, 'apng'>;

/** Returns a tiny image, for a form. */
export const picture = (type: ImageType = 'png') => new Blob([samples[type]], { type: `image/${type}` });
