/** Reviews: pages by cursor, the city of each, and deleted ones that can be brought back. */
import {
  BulkDeleteButton,
  Create,
  DataTable,
  DateField,
  List,
  NumberInput,
  SaveButton,
  SelectInput,
  SimpleForm,
  TextInput,
  Toolbar,
} from 'react-admin';
import type { Query } from '../atlas.js';
import { DeleteButton, RestoreButton } from '../components/delete-and-restore.js';
import { GuardedEdit } from '../components/guarded-edit.js';
import { History } from '../components/history.js';
import { CityInput } from '../components/reference.js';
import { Rows } from '../components/rows.js';
import { useFeed } from '../components/use-feed.js';

const filters = [
  <TextInput key="author" source="author@ilike" label="Author" alwaysOn />,
  <NumberInput key="rating" source="rating@ge" label="Rating at least" alwaysOn />,
  <CityInput key="city" source="cityId" />,
  <SelectInput key="deleted" source="?deleted" label="Deleted" choices={['only', 'with']} />,
  <TextInput key="q" source="q" label="RSQL" />,
];

const shown: Query<'/reviews'> = {
  include: ['city', 'city.country'],
  'city.fields': ['name'],
  'city.country.fields': ['flag'],
};

const FEED = '/reviews/changes';

export function ReviewList() {
  useFeed(FEED);
  return (
    <List
      filters={filters}
      sort={{ field: 'createdAt', order: 'DESC' }}
      perPage={10}
      queryOptions={{ meta: shown }}
    >
      <Rows
        primary={({ author, rating }) => `${author}: ${rating}`}
        secondary={({ city }) => city?.name}
        bulkActionButtons={<BulkDeleteButton mutationMode="pessimistic" />}
      >
        <DataTable.Col source="city.country.flag" label="" disableSort />
        <DataTable.Col source="city.name" label="City" disableSort />
        <DataTable.Col source="author" disableSort />
        <DataTable.NumberCol source="rating" />
        <DataTable.Col source="text" disableSort />
        <DataTable.Col source="createdAt" field={DateField} />
        <DataTable.Col label="">
          <RestoreButton />
        </DataTable.Col>
      </Rows>
    </List>
  );
}

export function ReviewEdit() {
  return (
    <GuardedEdit
      toolbar={
        <Toolbar sx={{ justifyContent: 'space-between' }}>
          <SaveButton />
          <DeleteButton />
        </Toolbar>
      }
    >
      <ReviewInputs />
      <History fields={['cityId', 'author', 'rating', 'text']} feed={FEED} />
    </GuardedEdit>
  );
}

export function ReviewCreate() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <ReviewInputs />
      </SimpleForm>
    </Create>
  );
}

function ReviewInputs() {
  return (
    <>
      <CityInput source="cityId" />
      <TextInput source="author" />
      <NumberInput source="rating" />
      <TextInput source="text" multiline />
    </>
  );
}
