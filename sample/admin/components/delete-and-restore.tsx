/** Deletes a record at once, and brings it back when its user says so: a model with soft delete keeps it. */
import { Alert, Button } from '@mui/material';
import type { MouseEvent } from 'react';
import {
  type RaRecord,
  useCloseNotification,
  useDataProvider,
  useDelete,
  useNotify,
  useRecordContext,
  useRedirect,
  useRefresh,
  useResourceContext,
} from 'react-admin';
import type { CrudDataProvider } from '../data-provider/data-provider.js';

/** Has the record and the resource from its context. The tag of the record is the condition of the delete. */
export function DeleteButton() {
  const record = useRecordContext();
  const resource = useResourceContext();
  const [deleteOne, { isPending }] = useDelete();
  const notify = useNotify();
  const redirect = useRedirect();
  if (!record || !resource) return null;
  const remove = () =>
    deleteOne(
      resource,
      { id: record.id, previousData: record },
      {
        onSuccess: () => {
          notify(<Deleted resource={resource} record={record} />);
          redirect('list', resource);
        },
        onError: (error) =>
          notify(error instanceof Error ? error.message : 'ra.notification.http_error', { type: 'error' }),
      },
    );
  return (
    <Button color="error" onClick={remove} disabled={isPending}>
      Delete
    </Button>
  );
}

/** Of a record that is deleted, if it is. */
export function RestoreButton() {
  const record = useRecordContext();
  const resource = useResourceContext();
  const restore = useRestore();
  if (!record?.['deletedAt'] || !resource) return null;
  const onClick = (event: MouseEvent) => {
    // Of the row it is in, which would open the record.
    event.stopPropagation();
    return restore(resource, record);
  };
  return (
    <Button size="small" onClick={onClick}>
      Restore
    </Button>
  );
}

function Deleted({ resource, record }: { readonly resource: string; readonly record: RaRecord }) {
  const restore = useRestore();
  const close = useCloseNotification();
  const undo = async () => {
    close();
    await restore(resource, record);
  };
  return (
    <Alert
      severity="info"
      variant="filled"
      action={
        <Button color="inherit" size="small" onClick={undo}>
          Undo
        </Button>
      }
    >
      Deleted
    </Alert>
  );
}

function useRestore() {
  const dataProvider = useDataProvider<CrudDataProvider>();
  const notify = useNotify();
  const refresh = useRefresh();
  return async (resource: string, { id }: RaRecord) => {
    try {
      await dataProvider.restore(resource, { id });
      notify('Restored', { type: 'success' });
    } catch (error) {
      notify(error instanceof Error ? error.message : 'ra.notification.http_error', { type: 'error' });
    }
    refresh();
  };
}
