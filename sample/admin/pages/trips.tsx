/** Trips: their stops in the same form, and their themes, which are links. */
import {
  ArrayInput,
  Create,
  DataTable,
  List,
  NumberInput,
  SimpleForm,
  SimpleFormIterator,
  TextInput,
} from 'react-admin';
import { GuardedEdit } from '../components/guarded-edit.js';
import { Links } from '../components/links.js';
import { CityInput } from '../components/reference.js';
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
      <TripInputs />
      <Links target="/trips/{id}/themes" reference="themes" label="Themes" />
    </GuardedEdit>
  );
}

export function TripCreate() {
  return (
    <Create>
      <SimpleForm>
        <TripInputs />
      </SimpleForm>
    </Create>
  );
}

/** The stops are written with the trip, by the option `nested`. */
function TripInputs() {
  return (
    <>
      <TextInput source="title" />
      <ArrayInput source="stops">
        <SimpleFormIterator inline disableReordering>
          <NumberInput source="day" />
          <CityInput source="cityId" />
          <NumberInput source="nights" />
        </SimpleFormIterator>
      </ArrayInput>
    </>
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
