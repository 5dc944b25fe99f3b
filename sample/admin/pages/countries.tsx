/** Countries: pages by number, a key that the client chooses, and the cities of each. */
import {
  BooleanField,
  BooleanInput,
  Create,
  DataTable,
  Labeled,
  List,
  NumberInput,
  Pagination,
  ReferenceManyField,
  SelectInput,
  SimpleForm,
  TextArrayInput,
  TextInput,
} from 'react-admin';
import type { Query } from '../atlas.js';
import { GuardedEdit } from '../components/guarded-edit.js';
import { Rows } from '../components/rows.js';

export const REGIONS = ['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania'];

const filters = [
  <TextInput key="name" source="name@ilike" label="Name" alwaysOn />,
  <SelectInput key="region" source="region" choices={REGIONS} alwaysOn />,
  <TextInput key="area" source="area@ge" label="Area at least" />,
  <TextInput key="q" source="q" label="RSQL" />,
];

const shown: Query<'/countries'> = {
  fields: ['code', 'name', 'flag', 'region', 'subregion', 'area', 'independent'],
};

export function CountryList() {
  return (
    <List
      filters={filters}
      sort={{ field: 'name', order: 'ASC' }}
      perPage={25}
      queryOptions={{ meta: shown }}
    >
      <Rows
        primary={({ flag, name }) => `${flag} ${name}`}
        secondary={({ region, subregion }) => subregion ?? region}
      >
        <DataTable.Col source="flag" label="" disableSort />
        <DataTable.Col source="name" />
        <DataTable.Col source="code" />
        <DataTable.Col source="region" />
        <DataTable.Col source="subregion" disableSort />
        <DataTable.NumberCol source="area" />
        <DataTable.Col source="independent" field={BooleanField} disableSort />
      </Rows>
    </List>
  );
}

export function CountryEdit() {
  return (
    <GuardedEdit>
      <TextInput source="code" readOnly />
      <CountryInputs />
      <Labeled label="Cities" fullWidth>
        <CitiesOfCountry />
      </Labeled>
    </GuardedEdit>
  );
}

export function CountryCreate() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <TextInput source="code" />
        <CountryInputs />
      </SimpleForm>
    </Create>
  );
}

/** No rules are repeated here: the API has them, and names the field. */
function CountryInputs() {
  return (
    <>
      <TextInput source="alpha2" />
      <TextInput source="name" />
      <TextInput source="officialName" />
      <SelectInput source="region" choices={REGIONS} />
      <TextInput source="subregion" />
      <TextArrayInput source="capital" />
      <TextInput source="area" />
      <NumberInput source="latitude" />
      <NumberInput source="longitude" />
      <BooleanInput source="landlocked" />
      <TextInput source="flag" />
    </>
  );
}

/** A sub-resource: what `/cities` allows holds here, too. */
function CitiesOfCountry() {
  return (
    <ReferenceManyField
      reference="cities"
      target="/countries/{id}/cities"
      sort={{ field: 'population', order: 'DESC' }}
      perPage={5}
      pagination={<Pagination rowsPerPageOptions={[5, 25]} />}
    >
      <Rows primary={({ name }) => name} secondary={({ population }) => `${population} people`}>
        <DataTable.Col source="name" />
        <DataTable.NumberCol source="population" />
      </Rows>
    </ReferenceManyField>
  );
}
