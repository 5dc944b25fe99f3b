/** An edit page that never overwrites what its user has not seen: a conflict is said, and the record can be read again. */
import { Alert, Button } from '@mui/material';
import { useState } from 'react';
import { Edit, type EditProps, HttpError, useEditContext } from 'react-admin';

/** Like `<Edit>`. It saves before it leaves the page, because only then what is refused stands at its field. */
export function GuardedEdit({ children, ...props }: EditProps) {
  const [isConflict, setConflict] = useState(false);
  const onSettled = (_record: unknown, error: unknown) =>
    setConflict(error instanceof HttpError && error.status === 412);
  return (
    <Edit mutationMode="pessimistic" mutationOptions={{ onSettled }} {...props}>
      {isConflict && <Conflict onReload={() => setConflict(false)} />}
      {children}
    </Edit>
  );
}

function Conflict({ onReload }: { readonly onReload: () => void }) {
  const { refetch } = useEditContext();
  const reload = async () => {
    await refetch();
    onReload();
  };
  return (
    <Alert
      severity="warning"
      action={
        <Button color="inherit" onClick={reload}>
          Reload
        </Button>
      }
    >
      Somebody else has changed this record since you opened it, and nothing of yours was saved. Reload it,
      and make your changes again.
    </Alert>
  );
}
