import { type Gate, type Observer, observeMethods } from '../support/observer.js';
import type { ImageStore } from './index.js';

/**
 * Returns an image store that reports its calls to the observer, and allows them only while the gate does. The reported duration
 * of reading an image ends when its stream is available.
 */
export const observedImages = (images: ImageStore, observer: Observer, gate: Gate): ImageStore =>
  observeMethods('images', images, ['put', 'get', 'remove', 'check'], observer, gate);
