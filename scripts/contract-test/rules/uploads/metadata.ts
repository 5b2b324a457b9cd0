import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import { ascii, expectStored, FORMS } from './forms.js';

const COMMENT = ascii('\xff\xfe\0\x0bIdentify!');
const START = samples.jpeg.subarray(0, 20);
/** JPEGs with metadata or trailing bytes, each with the bytes that are served. */
const WITH_METADATA: [uploaded: Buffer, served: Buffer][] = [
  [Buffer.concat([START, COMMENT, samples.jpeg.subarray(20)]), samples.jpeg],
  [Buffer.concat([samples.jpeg, ascii('<script>alert(1)</script>')]), samples.jpeg],
];
/** A file that has only the start of a JPEG. */
const UNREADABLE = Buffer.concat([samples.jpeg.subarray(0, 3), ascii('<script>alert(1)</script>\0\r\n')]);

export const metadataRules = FORMS.map((form) =>
  rule(
    `uploads.metadata.${form.id}`,
    `${form.title} removes comments and bytes after the image. A file that only starts like a JPEG is served unchanged as image/jpeg.`,
    async (users) => {
      await expectStored(users, form, UNREADABLE, 'image/jpeg', 'image/jpeg');
      for (const [uploaded, served] of WITH_METADATA) {
        await expectStored(users, form, uploaded, 'image/jpeg', 'image/jpeg', served);
      }
    },
  ),
);
