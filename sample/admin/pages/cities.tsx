/** Cities: a large list by number, the country of each, and its reviews. */
import { SvgIcon } from '@mui/material';
import {
  Button,
  Create,
  CreateButton,
  DataTable,
  DateField,
  FilterButton,
  Labeled,
  LinkBase,
  List,
  NumberInput,
  Pagination,
  ReferenceManyField,
  SimpleForm,
  TextInput,
  TopToolbar,
} from 'react-admin';
import type { Query } from '../atlas.js';
import { DownloadButton } from '../components/download-button.js';
import { GuardedEdit } from '../components/guarded-edit.js';
import { CountryInput } from '../components/reference.js';
import { Rows } from '../components/rows.js';

const filters = [
  <TextInput key="name" source="name@ilike" label="Name" alwaysOn />,
  <TextInput key="region" source="country.region" label="Region" />,
  <NumberInput key="population" source="population@ge" label="People at least" alwaysOn />,
  <TextInput key="q" source="q" label="RSQL" />,
];

/** The country comes along in the same request. */
const shown: Query<'/cities'> = { include: ['country'], 'country.fields': ['name', 'flag'] };

export function CityList() {
  return (
    <List
      filters={filters}
      sort={{ field: 'population', order: 'DESC' }}
      perPage={25}
      queryOptions={{ meta: shown }}
      actions={<CityActions />}
    >
      <Rows
        primary={({ name }) => name}
        secondary={({ country, population }) => `${country.name}, ${population} people`}
      >
        <DataTable.Col source="id" />
        <DataTable.Col source="name" />
        <DataTable.Col source="country.name" label="Country" disableSort />
        <DataTable.NumberCol source="population" />
        <DataTable.Col source="featureCode" disableSort />
      </Rows>
    </List>
  );
}

function CityActions() {
  return (
    <TopToolbar>
      <FilterButton />
      <CreateButton />
      <DownloadButton />
      <Button component={LinkBase} to="/cities/upload" label="Upload">
        <SvgIcon>
          <path d="M5 20h14v-2H5zM5 10h4v6h6v-6h4l-7-7z" />
        </SvgIcon>
      </Button>
    </TopToolbar>
  );
}

export function CityEdit() {
  return (
    <GuardedEdit>
      <CityInputs />
      <Labeled label="Reviews" fullWidth>
        <ReviewsOfCity />
      </Labeled>
    </GuardedEdit>
  );
}

export function CityCreate() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <NumberInput source="id" label="GeoNames id" />
        <CityInputs />
      </SimpleForm>
    </Create>
  );
}

function CityInputs() {
  return (
    <>
      <TextInput source="name" />
      <CountryInput source="countryCode" />
      <NumberInput source="population" />
      <NumberInput source="latitude" />
      <NumberInput source="longitude" />
      <TextInput source="featureCode" />
    </>
  );
}

function ReviewsOfCity() {
  return (
    <ReferenceManyField
      reference="reviews"
      target="/cities/{id}/reviews"
      sort={{ field: 'createdAt', order: 'DESC' }}
      perPage={5}
      pagination={<Pagination rowsPerPageOptions={[5, 25]} />}
    >
      <Rows primary={({ author }) => author} secondary={({ text }) => text}>
        <DataTable.Col source="author" disableSort />
        <DataTable.NumberCol source="rating" />
        <DataTable.Col source="text" disableSort />
        <DataTable.Col source="createdAt" field={DateField} />
      </Rows>
    </ReferenceManyField>
  );
}
