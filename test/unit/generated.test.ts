import t from 'tap';
import { updateGenerated } from '../../scripts/generate/files.js';

t.test('generated files are up to date, also when the generator runs again in one process', async (t) => {
  for (let run = 0; run < 2; run += 1) t.same(await updateGenerated({ dryRun: true }), []);
});
