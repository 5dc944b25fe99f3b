/** The errors of an import as a table: where each is in the file, and what is wrong. */
import { Table, TableBody, TableCell, TableContainer, TableHead, TableRow, Typography } from '@mui/material';
import type { ImportError } from '../data-provider/files.js';
import { countOf, rowsOf } from './progress.js';

interface RowErrorsProps {
  readonly errors: readonly ImportError[];
  /** Rows that are refused, of which `errors` has the first ones. */
  readonly failed?: number;
}

/** Nothing where there are no errors. */
export function RowErrors({ errors, failed = 0 }: RowErrorsProps) {
  if (errors.length === 0) return null;
  const shown = new Set(errors.map(({ row }) => row)).size;
  return (
    <>
      <TableContainer sx={{ maxHeight: 400, mt: 1 }} tabIndex={0} role="region" aria-label="Errors">
        <Table
          size="small"
          stickyHeader
          sx={{ '& .MuiTableCell-root': { px: { xs: 0.75, sm: 2 }, verticalAlign: 'top' } }}
        >
          <TableHead>
            <TableRow>
              <TableCell align="right">Row</TableCell>
              <TableCell align="right">Line</TableCell>
              <TableCell>Column</TableCell>
              <TableCell>Message</TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {errors.map(({ row, line, pointer = '', detail, code }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: A result does not change, and a row may have the same error twice.
              <TableRow key={`${index} ${code}`}>
                <TableCell align="right">{row ?? '—'}</TableCell>
                <TableCell align="right">{line}</TableCell>
                <TableCell>{pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')}</TableCell>
                <TableCell sx={{ overflowWrap: 'anywhere', minWidth: 120 }}>{detail}</TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </TableContainer>
      {failed > shown && (
        <Typography variant="body2" sx={{ mt: 1 }}>
          The first {countOf(shown)} of {rowsOf(failed)} that are refused.
        </Typography>
      )}
    </>
  );
}
