/** Uploads a CSV: a dry run first, then the real one, each with its progress and the errors of its rows. */
import { Alert, Box, Button, Checkbox, FormControlLabel, MenuItem, TextField } from '@mui/material';
import { useEffect, useRef, useState } from 'react';
import { HttpError, useDataProvider } from 'react-admin';
import type { CrudDataProvider } from '../data-provider/data-provider.js';
import { CutError, type FileProgress, type ImportError, type ImportResult } from '../data-provider/files.js';
import { forgetKey, isUnderWay, keyOf, newKey } from './file-key.js';
import { countOf, Progress, rowsOf } from './progress.js';
import { RowErrors } from './row-errors.js';

interface UploadProps {
  readonly resource: string;
  /** Modes of the option `import`, with the words for each. */
  readonly modes: Readonly<Record<string, string>>;
}

const DELIMITERS = { ',': 'Comma', ';': 'Semicolon', tab: 'Tab' };

/** State of the upload. Each file, and each change of a setting, begins at the first one. */
type Step =
  | { readonly is: 'chosen' }
  | { readonly is: 'sending'; readonly isDryRun: boolean; readonly progress: FileProgress }
  | { readonly is: 'checked' | 'stored'; readonly result: ImportResult }
  | { readonly is: 'stopped'; readonly isDryRun: boolean; readonly error: unknown };

const CHOSEN: Step = { is: 'chosen' };
/** Of a file that was left in the middle, as by a reload of the page. */
const LEFT: Step = {
  is: 'stopped',
  isDryRun: false,
  error: new CutError('This file was sent before, and the page was left before its end.'),
};

/** A page. The real run is offered after a dry run that would store something. */
export function Upload({ resource, modes }: UploadProps) {
  const dataProvider = useDataProvider<CrudDataProvider>();
  const [file, setFile] = useState<File>();
  const [settings, setSettings] = useState({
    mode: Object.keys(modes)[0] ?? 'create',
    delimiter: ',',
    atomic: true,
  });
  const [step, setStep] = useState<Step>(CHOSEN);
  const [total, setTotal] = useState<number>();
  const running = useRef<AbortController>(null);
  // The key of the file is kept, so that the same file goes on where it was left.
  useEffect(() => () => running.current?.abort(), []);
  const outcome = useRef<HTMLElement>(null);
  const { is } = step;
  const isSending = is === 'sending';
  // The button that was pressed is gone.
  useEffect(() => {
    if (is !== 'chosen') outcome.current?.focus();
  }, [is]);

  const identityOf = (of: File, given: typeof settings) =>
    `${resource} ${JSON.stringify(given)} ${of.name} ${of.size} ${of.lastModified}`;

  function choose(chosen: File | undefined, change: Partial<typeof settings> = {}) {
    const changed = { ...settings, ...change };
    setFile(chosen);
    setSettings(changed);
    setTotal(undefined);
    setStep(chosen && isUnderWay(identityOf(chosen, changed)) ? LEFT : CHOSEN);
  }

  async function send(isDryRun: boolean) {
    if (!file) return;
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const counted = isDryRun || total === undefined ? {} : { total };
    setStep({ is: 'sending', isDryRun, progress: { rows: 0, ...counted } });
    const identity = identityOf(file, settings);
    try {
      const result = await dataProvider.importFile(resource, {
        file,
        query: { ...settings, ...(isDryRun && { dry_run: true }) },
        // An API that keeps no keys, or needs one for each write, says so when the file is checked.
        key: isDryRun ? newKey() : keyOf(identity),
        onProgress: (progress) => setStep({ is: 'sending', isDryRun, progress: { ...counted, ...progress } }),
        signal,
      });
      if (isDryRun) setTotal(result.rows);
      else forgetKey(identity);
      setStep({ is: isDryRun ? 'checked' : 'stored', result });
    } catch (error) {
      // Another file has the key.
      if (!isDryRun && error instanceof HttpError && error.status === 422) forgetKey(identity);
      setStep({ is: 'stopped', isDryRun, error });
    } finally {
      running.current = null;
    }
  }

  return (
    <Box sx={{ display: 'grid', gap: 2, justifyItems: 'start', minWidth: 0 }}>
      <TextField
        fullWidth={false}
        type="file"
        label="File"
        helperText="CSV with the names of the columns in its first row"
        slotProps={{ inputLabel: { shrink: true }, htmlInput: { accept: '.csv,.ndjson,.jsonl,text/csv' } }}
        sx={{ maxWidth: '100%' }}
        disabled={isSending}
        onClick={({ target }) => {
          // Browsers do not tell of a file that is chosen again, after it was changed.
          if (target instanceof HTMLInputElement) target.value = '';
          choose(undefined);
        }}
        onChange={(event) => {
          // Of an input for files.
          choose((event.target as HTMLInputElement).files?.[0]);
        }}
      />
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 2, alignItems: 'center' }}>
        <Choice
          label="Rows are"
          choices={modes}
          value={settings.mode}
          disabled={isSending}
          onChange={(mode) => choose(file, { mode })}
        />
        <Choice
          label="Cells end with"
          choices={DELIMITERS}
          value={settings.delimiter}
          disabled={isSending}
          onChange={(delimiter) => choose(file, { delimiter })}
        />
        <FormControlLabel
          label="Leave out rows that are refused, and store the others"
          disabled={isSending}
          control={
            <Checkbox
              checked={!settings.atomic}
              onChange={(_, isLeft) => choose(file, { atomic: !isLeft })}
            />
          }
        />
      </Box>
      <Button
        variant={step.is === 'checked' ? 'outlined' : 'contained'}
        disabled={!file || isSending}
        onClick={() => send(true)}
      >
        Check the file
      </Button>
      <Box role="status" ref={outcome} tabIndex={-1} sx={{ width: '100%', minWidth: 0, outline: 'none' }}>
        {isSending && (
          <>
            <Progress label={step.isDryRun ? 'Checking' : 'Storing'} {...step.progress} />
            <Button onClick={() => running.current?.abort()}>Cancel</Button>
          </>
        )}
        {step.is === 'checked' && (
          <Checked {...step} isAtomic={settings.atomic} onStore={() => send(false)} />
        )}
        {step.is === 'stored' && <Stored {...step} isAtomic={settings.atomic} />}
        {step.is === 'stopped' && (
          <Stopped {...step} isAtomic={settings.atomic} onAgain={() => send(step.isDryRun)} />
        )}
      </Box>
    </Box>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly value: string;
  readonly disabled: boolean;
  readonly onChange: (value: string) => void;
}

function Choice({ label, choices, value, disabled, onChange }: ChoiceProps) {
  return (
    <TextField
      select
      fullWidth={false}
      label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
      sx={{ minWidth: 180 }}
    >
      {Object.entries(choices).map(([name, words]) => (
        <MenuItem key={name} value={name}>
          {words}
        </MenuItem>
      ))}
    </TextField>
  );
}

interface ResultProps {
  readonly result: ImportResult;
  readonly isAtomic: boolean;
}

function Checked({ result, isAtomic, onStore }: ResultProps & { readonly onStore: () => void }) {
  const { rows, failed } = result;
  const good = isAtomic && failed > 0 ? 0 : rows - failed;
  return (
    <>
      <Alert severity={failed > 0 || rows === 0 ? 'warning' : 'success'}>
        {rows === 0 && 'The file has no rows.'}
        {rows > 0 && failed === 0 && `Nothing is wrong with ${rowsOf(rows)}. Nothing is stored yet.`}
        {failed > 0 && `Refused: ${countOf(failed)} of ${rowsOf(rows)}. Nothing is stored yet.`}
      </Alert>
      <RowErrors {...result} />
      {good > 0 && (
        <Button variant="contained" onClick={onStore} sx={{ mt: 2 }}>
          Store {rowsOf(good)}
        </Button>
      )}
    </>
  );
}

function Stored({ result, isAtomic }: ResultProps) {
  const { created, updated, failed } = result;
  const isNone = isAtomic && failed > 0;
  return (
    <>
      <Alert severity={failed > 0 ? 'warning' : 'success'}>
        {isNone ? 'Nothing was stored.' : `Stored. New: ${countOf(created)}. Changed: ${countOf(updated)}.`}
        {failed > 0 && ` Refused: ${countOf(failed)}.`}
      </Alert>
      <RowErrors {...result} />
    </>
  );
}

interface StoppedProps {
  readonly isDryRun: boolean;
  readonly isAtomic: boolean;
  readonly error: unknown;
  readonly onAgain: () => void;
}

/** True where the same file would be refused again. */
function isRefusal(error: unknown): boolean {
  return error instanceof HttpError && error.status < 500 && ![408, 409, 429].includes(error.status);
}

/** Of a run that has no result. Only the API can say how far a real one came, so the file is sent again, with its key. */
function Stopped({ isDryRun, isAtomic, error, onAgain }: StoppedProps) {
  const isRefused = isRefusal(error);
  const isCancelled = error instanceof DOMException && error.name === 'AbortError';
  const reason = isCancelled ? 'Cancelled.' : error instanceof Error ? error.message : String(error);
  const found = error instanceof HttpError ? (error.body?.errors as readonly ImportError[] | undefined) : [];
  return (
    <>
      <Alert
        severity={isCancelled ? 'warning' : 'error'}
        action={
          !isRefused && (
            <Button color="inherit" onClick={onAgain} sx={{ whiteSpace: 'nowrap' }}>
              {isDryRun ? 'Check again' : 'Go on'}
            </Button>
          )
        }
      >
        {reason} {isDryRun && 'Nothing was stored.'}
        {!isDryRun && !(isRefused && isAtomic) && 'Some rows may be stored. '}
        {!isDryRun && !isRefused && '“Go on” sends the same file again, and stores no row twice.'}
      </Alert>
      <RowErrors errors={found ?? []} />
    </>
  );
}
