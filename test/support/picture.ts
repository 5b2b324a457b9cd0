import { samples } from '../../scripts/contract-test/client/index.js';

type ImageType = Exclude<keyof typeof samples, 'apng'>;

export const picture = (type: ImageType = 'png') => new Blob([samples[type]], { type: `image/${type}` });
