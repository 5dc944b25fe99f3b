/** Trips, and their themes, which are links. */
import { Create, DataTable, List, SimpleForm, TextInput } from 'react-admin';
import { GuardedEdit } from '../components/guarded-edit.js';
import { Links } from '../components/links.js';
import { Rows } from '../components/rows.js';

export function TripList() {
  return (
    <List sort={{ field: 'title', order: 'ASC' }} perPage={25}>
      <Rows primary={({ title }) => title} secondary={() => null}>
        <DataTable.Col source="title" />
      </Rows>
    </List>
  );
}

export function TripEdit() {
  return (
    <GuardedEdit>
      <TextInput source="title" />
      <Links target="/trips/{id}/themes" reference="themes" label="Themes" />
    </GuardedEdit>
  );
}

export function TripCreate() {
  return (
    <Create>
      <SimpleForm>
        <TextInput source="title" />
      </SimpleForm>
    </Create>
  );
}

export function ThemeList() {
  return (
    <List sort={{ field: 'name', order: 'ASC' }} perPage={25}>
      <Rows primary={({ name }) => name} secondary={() => null}>
        <DataTable.Col source="name" />
      </Rows>
    </List>
  );
}

export function ThemeCreate() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <TextInput source="name" />
      </SimpleForm>
    </Create>
  );
}

export function ThemeEdit() {
  return (
    <GuardedEdit>
      <TextInput source="name" />
    </GuardedEdit>
  );
}
