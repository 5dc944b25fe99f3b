/** Downloads the records of a list as CSV: those that its filters find, in its order, on all of its pages. */
import { Alert, Menu, MenuItem, Snackbar, SvgIcon, Button as TextButton } from '@mui/material';
import { useEffect, useId, useRef, useState } from 'react';
import { Button, useDataProvider, useListContext, useNotify } from 'react-admin';
import type { CrudDataProvider } from '../data-provider/data-provider.js';
import type { Download, FileProgress } from '../data-provider/files.js';
import { Progress, rowsOf } from './progress.js';

interface DownloadProps {
  /** Further parameters, such as `fields`. */
  readonly query?: object;
}

/** For the `actions` of a `<List>`, and not for the records of a reference. A file is saved when all of it is there, so that no part is taken for the whole. */
export function DownloadButton({ query }: DownloadProps) {
  const { resource, filter, filterValues, sort } = useListContext();
  const dataProvider = useDataProvider<CrudDataProvider>();
  const notify = useNotify();
  const menuId = useId();
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [progress, setProgress] = useState<FileProgress>();
  const [problem, setProblem] = useState<string>();
  const running = useRef<AbortController>(null);
  // Nobody would see its end.
  useEffect(() => () => running.current?.abort(), []);

  async function start(spreadsheet: boolean) {
    setAnchor(null);
    setProblem(undefined);
    setProgress({ rows: 0 });
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    try {
      const params = {
        // That of the list itself, which nobody can take off, is the second one.
        filter: { ...filterValues, ...filter },
        sort,
        query: { ...query, ...(spreadsheet && { spreadsheet }) },
        signal,
      };
      const download = await dataProvider.exportRecords(resource, { ...params, onProgress: setProgress });
      save(download);
      notify(`Downloaded ${rowsOf(download.rows)}`, { type: 'success' });
    } catch (error) {
      if (signal.aborted) notify('The download was cancelled. Nothing was saved.');
      else setProblem(`Nothing was saved. ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      running.current = null;
      setProgress(undefined);
    }
  }

  return (
    <>
      <Button
        label="Download"
        disabled={progress !== undefined}
        aria-haspopup="menu"
        aria-controls={anchor ? menuId : undefined}
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        <SvgIcon>
          <path d="M5 20h14v-2H5zM19 9h-4V3H9v6H5l7 7z" />
        </SvgIcon>
      </Button>
      <Menu id={menuId} anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        <MenuItem onClick={() => start(true)}>CSV to open in a spreadsheet</MenuItem>
        <MenuItem onClick={() => start(false)}>CSV to upload again</MenuItem>
      </Menu>
      <Snackbar open={progress !== undefined}>
        <Alert
          severity="info"
          variant="outlined"
          sx={{ bgcolor: 'background.paper' }}
          action={<TextButton onClick={() => running.current?.abort()}>Cancel</TextButton>}
        >
          <Progress label="Download" {...(progress ?? { rows: 0 })} />
        </Alert>
      </Snackbar>
      <Snackbar open={problem !== undefined}>
        <Alert severity="error" variant="filled" onClose={() => setProblem(undefined)}>
          {problem}
        </Alert>
      </Snackbar>
    </>
  );
}

function save({ blob, name }: Download): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
