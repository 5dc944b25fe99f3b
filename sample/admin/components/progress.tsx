/** A bar that shows the progress of a file: without an end while nobody has counted its rows. */
import { Box, LinearProgress, Typography } from '@mui/material';
import type { FileProgress } from '../data-provider/files.js';

interface ProgressProps extends FileProgress {
  /** Name of the bar for screen readers. */
  readonly label: string;
}

/** The bar, with its numbers below. */
export function Progress({ label, ...progress }: ProgressProps) {
  const share = shareOf(progress);
  return (
    <Box sx={{ minWidth: 200 }}>
      <LinearProgress
        aria-label={label}
        color="primary"
        variant={share === undefined ? 'indeterminate' : 'determinate'}
        {...(share !== undefined && { value: Math.min(100, Math.round(100 * share)) })}
      />
      <Typography variant="body2" aria-live="off">
        {textOf(progress)}
      </Typography>
    </Box>
  );
}

/** Sent, while nobody has counted a row. */
function shareOf({ rows, total, sent = 1 }: FileProgress): number | undefined {
  if (rows === 0 && sent < 1) return sent;
  return rows > 0 && total !== undefined && total > 0 ? rows / total : undefined;
}

function textOf({ rows, total, sent = 1 }: FileProgress): string {
  if (rows === 0 && sent < 1) return `${Math.floor(100 * sent)} % sent`;
  return total === undefined ? rowsOf(rows) : `${countOf(rows)} of ${rowsOf(total)}`;
}

/** `1 row`, or `1,500 rows`. */
export function rowsOf(count: number): string {
  return `${countOf(count)} ${count === 1 ? 'row' : 'rows'}`;
}

/** A number as people read it. */
export function countOf(count: number): string {
  return count.toLocaleString('en');
}
