/** An edit page that never overwrites what its user has not seen, and never loses what its user has typed. */
import { Alert, Button, Table, TableBody, TableCell, TableHead, TableRow } from '@mui/material';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import {
  Edit,
  HttpError,
  SimpleForm,
  type UpdateParams,
  useEditContext,
  useNotify,
  useTranslateLabel,
} from 'react-admin';
import { textOf } from './value-text.js';

type Values = Readonly<Record<string, unknown>>;

interface GuardedEditProps {
  /** Buttons below the form. Default: those of react-admin. */
  readonly toolbar?: ReactElement;
  /** The inputs. */
  readonly children: ReactNode;
}

/** The form keeps its changes while it takes up the record of somebody else, and its tag. */
const KEEP_CHANGES = { keepDirtyValues: true };

/**
 * Like `<Edit>` with a `<SimpleForm>`. It saves before it leaves the page, because only then an error is shown at its field. Where
 * somebody else was faster it shows both values of each field that was changed, and the next save is for the record that was shown.
 */
export function GuardedEdit({ toolbar, children }: GuardedEditProps) {
  const [conflict, setConflict] = useState<{ readonly typed: Values; readonly at: number }>();
  const notify = useNotify();
  const mutationOptions = {
    onError(error: unknown, { data, previousData }: Partial<UpdateParams>) {
      if (!(error instanceof HttpError)) notify(String(error), { type: 'error' });
      else if (error.status === 412) setConflict({ typed: changesOf(data, previousData), at: Date.now() });
      // The others are shown at their fields.
      else if (!error.body?.errors) notify(error.message, { type: 'error' });
    },
    onSettled(_record: unknown, error: unknown) {
      if (!error) setConflict(undefined);
    },
  };
  return (
    <Edit mutationMode="pessimistic" mutationOptions={mutationOptions}>
      <SimpleForm {...(toolbar && { toolbar })} {...(conflict && { resetOptions: KEEP_CHANGES })}>
        {conflict && (
          <Conflict key={conflict.at} typed={conflict.typed} onDiscard={() => setConflict(undefined)} />
        )}
        {children}
      </SimpleForm>
    </Edit>
  );
}

/** Properties that somebody has changed in the form; those with an underscore are of the provider. */
function changesOf(data: Values = {}, previous: Values = {}): Values {
  return Object.fromEntries(
    Object.entries(data).filter(
      ([name, value]) => !name.startsWith('_') && JSON.stringify(value) !== JSON.stringify(previous[name]),
    ),
  );
}

interface ConflictProps {
  /** Values that were typed and not saved, by attribute. */
  readonly typed: Values;
  readonly onDiscard: () => void;
}

function Conflict({ typed, onDiscard }: ConflictProps) {
  // The record whose tag the next save sends, also where the page is refreshed meanwhile.
  const { record: theirs, refetch } = useEditContext();
  const labelOf = useTranslateLabel();
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    refetch().then(({ isError }) => setRead(!isError));
  }, [refetch]);
  if (!isRead || !theirs) return null;
  return (
    <Alert severity="warning" sx={{ width: '100%', '& .MuiAlert-message': { flexGrow: 1 } }}>
      Somebody else has changed this record since you opened it, and nothing of yours was saved. The form has
      what you typed, and what they saved in all other fields. Save to keep yours.
      <Table size="small" sx={{ tableLayout: 'fixed', overflowWrap: 'anywhere' }}>
        <TableHead>
          <TableRow>
            <TableCell />
            <TableCell>Yours</TableCell>
            <TableCell>Theirs</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {Object.entries(typed).map(([name, value]) => (
            <TableRow key={name}>
              <TableCell component="th" scope="row">
                {labelOf({ source: name })}
              </TableCell>
              <TableCell>{textOf(value)}</TableCell>
              <TableCell>{textOf(theirs[name])}</TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <Button color="inherit" onClick={onDiscard}>
        Take theirs
      </Button>
    </Alert>
  );
}
