/** Required by every Node process that a test starts: the process of the tests reads and judges its records. */
import { appendFileSync } from 'node:fs';
import { recordAnswers, recordWarnings } from './record-process.js';

const { CRUD_TEST_RECORDS: file } = process.env;
if (file) {
  const record = (entry: object) => appendFileSync(file, `${JSON.stringify(entry)}\n`);
  const seen = new Set<string>();
  recordAnswers((answer) => {
    // A load test has the same answer many times.
    if (seen.has(answer.body)) return;
    seen.add(answer.body);
    record({ answer });
  });
  recordWarnings((warning) => record({ warning }));
}
