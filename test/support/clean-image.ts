import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImageRefusedError } from '../../handlers/policy/image-metadata/errors.js';
import { cleanImage } from '../../handlers/policy/image-metadata/index.js';
import { detectImageType } from '../../handlers/policy/image-types.js';
import type { Lifetime } from './lifetime.js';

/** Returns a function that returns the cleaned bytes of an image, or the code of the problem if the image is rejected. */
export async function createImageCleaner(t: Lifetime) {
  const folder = await mkdtemp(join(tmpdir(), 'clean-image-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'image');

  return async (bytes: Buffer, stripMetadata = true): Promise<Buffer | string> => {
    await writeFile(path, bytes);
    const mediaType = String(detectImageType(bytes)?.mediaType);
    try {
      const size = await cleanImage({ path, size: bytes.length, mediaType }, { stripMetadata });
      const stored = await readFile(path);
      if (stored.length !== size) throw new Error(`The size is ${stored.length}, not ${size}.`);
      return stored;
    } catch (error) {
      if (error instanceof ImageRefusedError) return error.fieldCode;
      throw error;
    }
  };
}
