/** The records of a list: a table, or two lines for each where a table would not fit. */
import { type Theme, useMediaQuery } from '@mui/material';
import type { ReactNode } from 'react';
import { DataTable, type RaRecord, SimpleList } from 'react-admin';

interface RowsProps {
  readonly primary: (record: RaRecord) => ReactNode;
  readonly secondary: (record: RaRecord) => ReactNode;
  /** Actions on the records that are selected. Default: none. */
  readonly bulkActionButtons?: ReactNode;
  /** The columns. */
  readonly children: ReactNode;
}

/** For the inside of a `<List>`. */
export function Rows({ primary, secondary, bulkActionButtons = false, children }: RowsProps) {
  const isNarrow = useMediaQuery<Theme>(({ breakpoints }) => breakpoints.down('sm'));
  if (isNarrow) return <SimpleList primaryText={primary} secondaryText={secondary} />;
  return <DataTable bulkActionButtons={bulkActionButtons}>{children}</DataTable>;
}
