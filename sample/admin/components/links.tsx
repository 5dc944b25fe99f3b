/** The records that a record is linked with, as a field of chips. Each change is a request of its own, and waits for no form. */
import { Autocomplete, TextField } from '@mui/material';
import { useState } from 'react';
import {
  type RaRecord,
  useDataProvider,
  useGetList,
  useGetManyReference,
  useNotify,
  useRecordContext,
} from 'react-admin';
import type { CrudDataProvider } from '../data-provider/data-provider.js';

interface LinksProps {
  /** The list under the record: `/trips/{id}/themes`. */
  readonly target: string;
  /** The resource of the linked records. */
  readonly reference: string;
  readonly label: string;
  /** The attribute that people know them by, which has to be in `filterAllow` and `sortAllow`. Default: `name`. */
  readonly source?: string;
}

/** As many links are shown, and as many records are offered. */
const MOST_LINKS = 100;
const MOST_OFFERS = 25;

/** Has the record from its context. */
export function Links({ target, reference, label, source = 'name' }: LinksProps) {
  const record = useRecordContext();
  const dataProvider = useDataProvider<CrudDataProvider>();
  const notify = useNotify();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const sort = { field: source, order: 'ASC' } as const;
  const { data: linked = [], refetch } = useGetManyReference(reference, {
    target,
    id: record?.id ?? '',
    pagination: { page: 1, perPage: MOST_LINKS },
    sort,
  });
  const { data: offered = [] } = useGetList(reference, {
    filter: text ? { [`${source}@ilike`]: text } : {},
    pagination: { page: 1, perPage: MOST_OFFERS },
    sort,
  });
  if (!record) return null;
  const isIn = (list: readonly RaRecord[], { id }: RaRecord) => list.some((each) => each.id === id);
  const change = async (wanted: readonly RaRecord[]) => {
    setBusy(true);
    try {
      for (const each of wanted.filter((one) => !isIn(linked, one)))
        await dataProvider.setLink(target, { id: record.id, link: each.id, isLinked: true });
      for (const each of linked.filter((one) => !isIn(wanted, one)))
        await dataProvider.setLink(target, { id: record.id, link: each.id, isLinked: false });
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), { type: 'error' });
    } finally {
      await refetch();
      setBusy(false);
    }
  };
  return (
    <Autocomplete
      multiple
      fullWidth
      size="small"
      disabled={isBusy}
      options={offered}
      value={linked}
      getOptionLabel={(each) => String(each[source])}
      getOptionKey={({ id }) => id}
      isOptionEqualToValue={(one, other) => one.id === other.id}
      filterOptions={(options) => options}
      filterSelectedOptions
      onInputChange={(_, typed) => setText(typed)}
      onChange={(_, wanted) => void change(wanted)}
      renderInput={(parameters) => (
        <TextField {...parameters} label={label} helperText="A link is saved at once." />
      )}
    />
  );
}
