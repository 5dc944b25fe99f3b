/** The changes of a record: who has made each, when, and what it has changed. And a way back. */
import { Box, Button, Table, TableBody, TableCell, TableHead, TableRow, Typography } from '@mui/material';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  Confirm,
  HttpError,
  type RaRecord,
  useDataProvider,
  useNotify,
  useRecordContext,
  useRefresh,
  useResourceContext,
  useTranslateLabel,
} from 'react-admin';
import { useFormState } from 'react-hook-form';
import type { Change, CrudDataProvider, HistoryPage } from '../data-provider/data-provider.js';
import { useFeed } from './use-feed.js';
import { textOf } from './value-text.js';

interface HistoryProps {
  /** Attributes that are shown, in their order. */
  readonly fields: readonly string[];
  /** The feed that says when there is more: `/reviews/changes`. */
  readonly feed: string;
}

const WORDS: Readonly<Record<Change['op'], string>> = {
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
  restore: 'Restored',
};

/** Two values of an attribute. */
type Pair = readonly [name: string, first: unknown, second: unknown];

/** For the form of a record that was read by itself. */
export function History({ fields, feed }: HistoryProps) {
  const record = useRecordContext();
  const resource = useResourceContext() ?? '';
  const dataProvider = useDataProvider<CrudDataProvider>();
  const { isDirty } = useFormState();
  const [chosen, setChosen] = useState<Change>();
  const { revert, isReverting } = useRevert();
  useFeed(feed);
  const id = record?.id ?? '';
  const [pages, setPages] = useState(1);
  const { data, error } = useQuery({
    queryKey: [resource, 'getHistory', String(id), pages],
    queryFn: async ({ signal }) => {
      const changes: Change[] = [];
      let after: string | null = null;
      for (let read = 0; read === 0 || (read < pages && after !== null); read += 1) {
        const page: HistoryPage = await dataProvider.getHistory(resource, { id, after, signal });
        changes.push(...page.items);
        after = page.next_cursor;
      }
      return { changes, hasMore: after !== null };
    },
    placeholderData: keepPreviousData,
  });
  if (error) return <Typography color="error">{error.message}</Typography>;
  if (!record || !data) return null;
  const { changes, hasMore } = data;
  const wayTo = (change: Change) => wayBack(record, changes.slice(0, changes.indexOf(change)), fields);
  const confirm = async () => {
    if (chosen) await revert(resource, record, chosen.id);
    setChosen(undefined);
  };
  return (
    <Box component="section" aria-label="History" sx={{ width: '100%', mt: 2 }}>
      <Typography variant="h6" component="h2">
        History
      </Typography>
      {isDirty && <Typography color="text.secondary">Save what you have typed before you revert.</Typography>}
      <Box component="ol" sx={{ listStyle: 'none', p: 0, m: 0 }}>
        {changes.map((change) => (
          <Box component="li" key={change.id} sx={{ py: 1, borderTop: 1, borderColor: 'divider' }}>
            <Box sx={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', gap: 1 }}>
              <Typography variant="body2">
                <b>{change.of === null ? WORDS[change.op] : 'Reverted'}</b> by {writerOf(change)},{' '}
                <time dateTime={change.at}>{timeOf(change)}</time>
              </Typography>
              {change.op !== 'delete' && wayTo(change).length > 0 && (
                <Button
                  size="small"
                  sx={{ flexShrink: 0 }}
                  disabled={isDirty}
                  onClick={() => setChosen(change)}
                >
                  Revert to this
                </Button>
              )}
            </Box>
            <Pairs heads={['Before', 'After']} pairs={pairsOf(change, fields)} />
          </Box>
        ))}
      </Box>
      {changes.length === 0 && <Typography>Nothing is known of its past.</Typography>}
      {hasMore && <Button onClick={() => setPages(pages + 1)}>Older changes</Button>}
      <Confirm
        isOpen={chosen !== undefined}
        loading={isReverting}
        title={chosen ? `Revert to the state of ${timeOf(chosen)}?` : ''}
        content={
          chosen ? (
            <>
              These values are changed. It is a change like any other, and can be reverted, too.
              <Pairs heads={['Now', 'Then']} pairs={wayTo(chosen)} />
            </>
          ) : (
            ''
          )
        }
        confirm="Revert"
        onConfirm={confirm}
        onClose={() => setChosen(undefined)}
      />
    </Box>
  );
}

function useRevert() {
  const dataProvider = useDataProvider<CrudDataProvider>();
  const notify = useNotify();
  const refresh = useRefresh();
  const [isReverting, setReverting] = useState(false);
  const revert = async (resource: string, record: RaRecord, to: string) => {
    setReverting(true);
    try {
      const { skipped } = await dataProvider.revert(resource, { record, to });
      if (skipped.length === 0) notify('Reverted', { type: 'success' });
      else notify(`Reverted, without ${skipped.join(', ')}`, { type: 'warning' });
    } catch (error) {
      const isConflict = error instanceof HttpError && error.status === 412;
      if (isConflict)
        notify(
          'Somebody else has changed this record since you opened it, and nothing was reverted. Now you see their change.',
          { type: 'warning', autoHideDuration: 10_000 },
        );
      else notify(error instanceof Error ? error.message : 'ra.notification.http_error', { type: 'error' });
    }
    setReverting(false);
    refresh();
  };
  return { revert, isReverting };
}

/** Values of now and of then: the newest change that stays is the last of the state, so the oldest that goes has the values of then. */
function wayBack(record: RaRecord, newer: readonly Change[], fields: readonly string[]): readonly Pair[] {
  const then = new Map(
    newer.flatMap(({ changes }) => Object.entries(changes).map(([name, { from }]) => [name, from] as const)),
  );
  return fields
    .filter((name) => then.has(name) && JSON.stringify(then.get(name)) !== JSON.stringify(record[name]))
    .map((name) => [name, record[name], then.get(name)]);
}

function pairsOf({ changes }: Change, fields: readonly string[]): readonly Pair[] {
  return fields.flatMap((name) => {
    const change = changes[name];
    return change ? [[name, change.from, change.to] as const] : [];
  });
}

function writerOf({ actor, operation }: Change): string {
  return actor ?? (operation === null ? 'somebody outside of the application' : 'somebody unknown');
}

function timeOf({ at }: Change): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

interface PairsProps {
  readonly heads: readonly [string, string];
  readonly pairs: readonly Pair[];
}

function Pairs({ heads, pairs }: PairsProps) {
  const labelOf = useTranslateLabel();
  const resource = useResourceContext();
  if (pairs.length === 0) return null;
  return (
    <Table
      size="small"
      sx={{
        tableLayout: 'fixed',
        overflowWrap: 'anywhere',
        '& .MuiTableCell-root': { px: { xs: 0.75, sm: 2 } },
        'tbody tr:last-child > *': { border: 0 },
      }}
    >
      <TableHead>
        <TableRow>
          <TableCell />
          {heads.map((head) => (
            <TableCell key={head}>{head}</TableCell>
          ))}
        </TableRow>
      </TableHead>
      <TableBody>
        {pairs.map(([name, ...values]) => (
          <TableRow key={name}>
            <TableCell component="th" scope="row">
              {labelOf({ source: name, ...(resource && { resource }) })}
            </TableCell>
            {values.map((value, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: There are always two.
              <TableCell key={index}>{textOf(value)}</TableCell>
            ))}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
